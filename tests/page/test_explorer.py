"""The explorer of the grid in a browser: filters, lines, rows, and the address of a view."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from reports.stored.artefacts import Artefacts, load
from tests.page.conftest import STORED, WIDE, Screen, Visit, drawn
from tests.page.samples import grown

pytestmark = pytest.mark.slow

MODELS = DECOMPOSABLE, ADAPTIVE = ("decomposable_attention", "adaptive_attention")
# Marks whose line one can see: one path for each trial.
LINES = "#trials-chart g.mark-line.role-mark path[stroke-width='1.3']"
# A place on the screen where a line is met, in the middle of its first part.
ON_LINE = """path => {
  const box = path.getBBox();
  const [one, other] = path.getAttribute("d").match(/-?[\\d.]+,-?[\\d.]+/g).slice(0, 2)
    .map((pair) => pair.split(",").map(Number));
  const place = new DOMPoint((one[0] + other[0]) / 2, (one[1] + other[1]) / 2);
  const { x, y } = place.matrixTransform(path.getScreenCTM());
  return [x, y];
}"""
Explore = Callable[..., Page]


@pytest.fixture(scope="module")
def artefacts() -> Artefacts:
    return grown(load(STORED))


@pytest.fixture
def explore(sample: Path, shown: Visit) -> Explore:
    """Open the explorer as it is at first, or with another model; its chart is drawn."""

    def explore(screen: Screen = WIDE, model: str = DECOMPOSABLE) -> Page:
        page = shown(sample, screen)
        page.locator("#trials-chart").scroll_into_view_if_needed()
        page.wait_for_selector("#trials-chart[data-drawn]")
        for chosen in (*(other for other in MODELS if other != model), model):
            page.get_by_role("button", name="Reset").click()
            control(page, "Model").select_option(chosen)
        wanted = int(count(page).inner_text().split()[0])
        page.wait_for_function(f"document.querySelectorAll({LINES!r}).length === {wanted}")
        return page

    return explore


def count(page: Page) -> Locator:
    return page.locator("#trials-count")


def rows(page: Page) -> Locator:
    return page.locator("#trials-table tbody tr")


def cells(page: Page, heading: str) -> list[str]:
    """The texts of a column of the table."""
    headings = page.locator("#trials-table th").all_inner_texts()
    return page.locator(
        f"#trials-table tbody tr > :nth-child({headings.index(heading) + 1})"
    ).all_inner_texts()


def control(page: Page, label: str) -> Locator:
    return page.locator("#trials-filters").get_by_label(label, exact=True)


def box(page: Page, setting: str, value: str) -> Locator:
    return page.get_by_role("group", name=setting).get_by_role("checkbox", name=value, exact=True)


def test_chart_and_table_have_the_trials_of_a_model(
    explore: Explore, screen: Screen, artefacts: Artefacts
) -> None:
    page = explore(screen)
    expect(count(page)).to_have_text("54 of 54 trials")
    assert page.locator(LINES).count() == 54
    assert rows(page).count() == 50
    trials = artefacts.trials[artefacts.trials["model"] == DECOMPOSABLE]
    best = sorted(trials["dev_accuracy"], reverse=True)[:50]
    assert cells(page, "dev accuracy, %") == [f"{100 * accuracy:.1f}" for accuracy in best]
    page.get_by_role("button", name="Show all 54 trials").click()
    assert rows(page).count() == 54
    assert sorted(cells(page, "key")) == sorted(trials["key"])
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_a_model_has_its_own_settings(explore: Explore) -> None:
    page = explore()
    control(page, "Model").select_option(ADAPTIVE)
    expect(count(page)).to_have_text("432 of 432 trials")
    expect(page.locator("#trials-chart .role-axis-label text")).to_have_text(
        [
            "width",
            "dropout",
            "learning_rate",
            "batch_size",
            "epsilon",
            "ponder_weight",
            "mean steps",
            "dev accuracy, %",
        ]
    )
    assert page.locator(LINES).count() == 432
    assert box(page, "ponder_weight", "0.00005").is_checked()


def test_filters_act_on_lines_and_rows_alike(
    explore: Explore, screen: Screen, artefacts: Artefacts
) -> None:
    page = explore(screen, ADAPTIVE)
    box(page, "ponder_weight", "0.001").uncheck()
    box(page, "width", "256").uncheck()
    control(page, "from").fill("72")
    control(page, "to").fill("78.5")
    trials = artefacts.trials
    trials = trials[trials["model"] == "adaptive_attention"]
    trials = trials[trials["ponder_weight"] != "0.001"]
    rounded = (100 * trials["dev_accuracy"]).round(1)
    wanted = trials[(trials["width"] != "256") & (rounded >= 72) & (rounded <= 78.5)]
    assert 50 < len(wanted) < 216
    expect(count(page)).to_have_text(f"{len(wanted)} of 432 trials")
    page.wait_for_function(f"document.querySelectorAll({LINES!r}).length === {len(wanted)}")
    page.locator("#trials-all").click()
    assert set(cells(page, "key")) == set(wanted["key"])
    control(page, "Key has").fill(key := wanted["key"].iloc[7])
    expect(count(page)).to_have_text("1 of 432 trials")
    assert cells(page, "key") == [key]
    page.get_by_role("button", name="Reset").click()
    expect(count(page)).to_have_text("432 of 432 trials")
    assert control(page, "Model").input_value() == ADAPTIVE


def test_no_trial_passes_and_nothing_breaks(explore: Explore) -> None:
    page = explore()
    control(page, "Key has").fill("no such key")
    expect(count(page)).to_have_text("0 of 54 trials")
    page.wait_for_function(f"document.querySelectorAll({LINES!r}).length === 0")
    assert rows(page).count() == 0


def test_the_line_under_the_pointer_is_named_and_its_row_marked(
    explore: Explore, screen: Screen
) -> None:
    page = explore(screen, ADAPTIVE)
    control(page, "from").fill("84")
    page.locator("#trials-chart").evaluate("e => e.scrollIntoView({block: 'center'})")
    x, y = page.locator(LINES).first.evaluate(ON_LINE)
    page.mouse.move(x, y - 1)
    page.mouse.move(x, y)
    tooltip = page.locator("#trials-tip")
    expect(tooltip).to_be_visible()
    expect(tooltip).to_contain_text("dev accuracy 8")
    key = tooltip.inner_text().split("\n")[0].removeprefix("trial ").removesuffix(" (chosen)")
    expect(page.locator("#trials-focused")).to_contain_text(f"Trial {key}")
    expect(page.locator("tr.focused")).to_have_attribute("data-key", key)
    expect(page.locator("#trials-chart path[stroke-width='4.5']")).to_have_count(1)
    page.mouse.move(1, 1)
    expect(page.locator("tr.focused")).to_have_count(0)
    expect(tooltip).to_be_hidden()


def test_rows_are_walked_with_the_keyboard_alone(explore: Explore) -> None:
    page = explore()
    first = cells(page, "key")[:3]
    page.locator("#trials-table .sort").last.focus()
    page.keyboard.press("Tab")
    focused = page.locator("#trials-focused")
    bold = page.locator("#trials-chart path[stroke-width='4.5']")
    expect(focused).to_contain_text(f"Trial {first[0]}")
    expect(bold).to_have_count(1)
    line = bold.get_attribute("d")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(focused).to_contain_text(f"Trial {first[2]}")
    expect(bold).not_to_have_attribute("d", line or "")
    page.keyboard.press("End")
    expect(rows(page).last).to_be_focused()
    page.keyboard.press("Escape")
    expect(focused).to_have_text("No trial is chosen.")
    expect(bold).to_have_count(0)


def test_filters_work_with_the_keyboard_alone(explore: Explore) -> None:
    page = explore()
    control(page, "Model").focus()
    for _ in range(2):  # past the search, to the first box
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(count(page)).to_have_text("36 of 54 trials")


def test_the_table_sorts_by_each_column(explore: Explore) -> None:
    page = explore(model=ADAPTIVE)
    headers = page.locator("#trials-table th")
    expect(page.locator("th[aria-sort=descending]")).to_have_text(["dev accuracy, %"])
    for name in headers.all_inner_texts():
        header = page.locator("#trials-table").get_by_role("columnheader", name=name, exact=True)
        header.get_by_role("button").click()
        shown = cells(page, name)
        state = header.get_attribute("aria-sort")
        assert state == "ascending"
        if name not in ("key", "remark"):
            numbers = [float(text) for text in shown]
            assert numbers == sorted(numbers)
    assert cells(page, "remark")[0] == "chosen"


def test_a_view_is_in_the_address(explore: Explore, sample: Path, visit: Visit) -> None:
    page = explore(model=ADAPTIVE)
    box(page, "epsilon", "0.2").uncheck()
    control(page, "to").fill("80")
    control(page, "Key has").fill("a")
    text = count(page).inner_text()
    address = page.evaluate("location.hash")
    again = visit(sample, WIDE, address)
    expect(count(again)).to_have_text(text)
    assert not box(again, "epsilon", "0.2").is_checked()
    assert control(again, "Key has").input_value() == "a"
    assert control(again, "to").input_value() == "80"
    assert cells(again, "key") == cells(page, "key")
    drawn(again)
    in_sight = "document.getElementById('trials').getBoundingClientRect().top < innerHeight"
    again.wait_for_function(in_sight)
    again.get_by_role("button", name="Reset").click()
    assert again.evaluate("location.hash") == f"#trials?model={ADAPTIVE}"


@pytest.mark.alone
def test_a_filter_of_486_trials_is_quick(explore: Explore) -> None:
    page = explore(model=ADAPTIVE)
    took = page.evaluate("""async () => {
      const box = document.querySelector("#trials-settings input");
      const times = [];
      for (let i = 0; i < 6; i++) {
        const start = performance.now();
        box.click();
        await new Promise((done) => setTimeout(done, 0));
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        times.push(performance.now() - start);
      }
      return times;
    }""")
    print("milliseconds from a press to the next picture:", [round(t) for t in took])
    assert min(took) < 400  # where others compute, too; 100 where nobody does
