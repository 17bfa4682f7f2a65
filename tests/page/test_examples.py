"""The browser of traced pairs in a real browser: it steps, and shows the trace."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reports.example_files import Example, Examples
from tests.page.conftest import DESK, PHONE, WIDE, Screen, Visit
from tests.page.example_pages import choose, chosen, percent, rows, written
from tests.reports.write_traces import PAIRS, line, random_lines

pytestmark = pytest.mark.slow


def check_shown(page: Page, pair: Example) -> None:
    """Every number of the pair, in the table of its steps and in its maps."""
    lines = page.locator("#examples-rows tbody tr")
    expect(lines).to_have_count(len(pair.steps) + 1)
    for at, step in enumerate(pair.steps):
        cells = lines.nth(at).locator("td").all_inner_texts()
        right = "✓ right" if step.label == pair.label else "✗ wrong"
        assert cells[-1] == f"{step.label} {right}"
        numbers = [step.halting, step.weight, *step.probabilities]
        assert [float(cell) for cell in cells[:-1]] == [percent(number) for number in numbers]
    answer = lines.last.locator("td").all_inner_texts()
    assert [float(cell) for cell in answer[2:-1]] == [percent(share) for share in pair.answer]
    right = "✓ right" if pair.predicted == pair.label else "✗ wrong"
    assert answer[-1] == f"{pair.predicted} {right}"
    for number, name in enumerate(("hypothesis", "premise")):
        table = page.locator("#examples-maps table").nth(number)
        heads = table.locator("thead th").all_text_contents()
        assert heads == ["Step", *getattr(pair, name)]
        for at, step in enumerate(pair.steps):
            cells = table.locator("tbody tr").nth(at).locator("td").all_text_contents()
            wanted = [percent(weight) for weight in getattr(step, name)]
            assert [float(cell) for cell in cells] == wanted


def check_words(page: Page, pair: Example, at: int) -> None:
    """Both sentences with the weights of one step."""
    for name in ("hypothesis", "premise"):
        words = page.locator(f"#examples-words .{name} .word")
        weights = [percent(weight) for weight in getattr(pair.steps[at], name)]
        assert words.locator(".token").all_inner_texts() == getattr(pair, name)
        assert [float(text) for text in words.locator("small").all_inner_texts()] == weights
        titles = [word.get_attribute("title") for word in words.all()]
        assert titles == [
            f"{token}: {weight:.1f} % of the attention"
            for token, weight in zip(getattr(pair, name), weights, strict=True)
        ]


def test_numbers_are_the_traces(stored: tuple[Path, Examples], visit: Visit) -> None:
    page = visit(stored[0])
    for at, pair in enumerate(stored[1].pairs[:12]):
        assert chosen(page) == pair.pair_id
        check_shown(page, pair)
        for step in range(len(pair.steps)):
            check_words(page, pair, step)
            expect(page.locator("#examples-at")).to_have_text(
                f"Step {step + 1} of {len(pair.steps)}"
            )
            if step + 1 < len(pair.steps):
                page.click("#examples-on")
        expect(page.locator("#examples-on")).to_be_disabled()
        assert page.locator(f"#examples-list-{at}").get_attribute("aria-selected") == "true"
        page.click("#examples-next")


def test_it_fits_every_screen_and_says_what_it_marks(
    stored: tuple[Path, Examples], visit: Visit, screen: Screen
) -> None:
    page = visit(stored[0], screen)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == screen.width
    assert page.locator("#examples-one .effect").inner_text() == "More steps corrected the answer."
    facts = page.locator("#examples-one .facts dd").all_inner_texts()
    assert facts == ["entailment", "entailment ✓ right", "neutral ✗ wrong", "3"]
    for selector in ("#examples-list", "#examples-words", "#examples-rows", "#examples-maps"):
        box = page.locator(selector).bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= screen.width
    for cell in page.locator("#examples-rows td:visible").all():
        box = cell.bounding_box()
        assert box is not None and box["x"] + box["width"] <= screen.width


def test_text_of_a_pair_is_never_markup(stored: tuple[Path, Examples], visit: Visit) -> None:
    page = visit(stored[0])
    page.fill("[name=search]", "p4#a")
    assert page.locator("#examples-words .premise .token").all_inner_texts()[-1] == "</script>"
    assert page.locator("#examples-words .hypothesis .token").nth(3).inner_text() == "<b>song</b>"


def test_keys(stored: tuple[Path, Examples], visit: Visit) -> None:
    page, ids = visit(stored[0]), [pair.pair_id for pair in stored[1].pairs]
    box = page.locator("#examples-list")
    box.focus()
    for key, place in (("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert chosen(page) == ids[place]
        assert box.get_attribute("aria-activedescendant") == f"examples-list-{place}"
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(page.locator("#examples-at")).to_have_text(f"Step {step} of 3")
        current = page.locator("[aria-current=step]")
        assert [row.get_attribute("data-step") for row in current.all()] == [str(step - 1)] * 3
    page.keyboard.press("End")
    assert chosen(page) == ids[-1]
    expect(page.locator(f"#examples-list-{len(ids) - 1}")).to_be_in_viewport()
    page.fill("[name=search]", "")
    page.keyboard.type("jk")  # letters in the search stay letters
    assert page.input_value("[name=search]") == "jk"


def test_a_row_and_a_step_are_chosen_by_a_click(
    stored: tuple[Path, Examples], visit: Visit
) -> None:
    page = visit(stored[0])
    page.click("#examples-list-2")
    assert chosen(page) == "p2#b"
    page.click("#examples-list-3")
    page.click("#examples-rows tr[data-step='2'] button")
    expect(page.locator("#examples-at")).to_have_text("Step 3 of 4")
    page.click("#examples-maps tr[data-step='3'] td >> nth=0")
    expect(page.locator("#examples-at")).to_have_text("Step 4 of 4")
    page.locator("#examples-step").fill("2")
    check_words(page, stored[1].pairs[3], 1)


def test_the_address_names_the_pair_and_the_step(
    stored: tuple[Path, Examples], visit: Visit
) -> None:
    path, examples = stored
    page = visit(path)
    assert page.evaluate("location.hash") == ""
    page.click("#examples-list-3")
    page.click("#examples-on")
    named = page.evaluate("location.hash")
    assert named == "#pair=p3%23a&step=2"
    assert page.locator("#examples-link").get_attribute("href") == named
    other = visit(path, Screen(*PHONE, "light"), named)
    assert chosen(other) == "p3#a"
    check_words(other, examples.pairs[3], 1)
    expect(other.locator("#examples-filters")).to_be_in_viewport()
    other.evaluate("location.hash = '#pair=p5%23a'")
    expect(other.locator("#examples-one .id")).to_have_text("p5#a")
    other.evaluate("location.hash = '#pair=nobody'")
    expect(other.locator("#examples-found")).to_have_text("No pair nobody is on this page.")


def test_a_seed_is_part_of_the_address_where_there_are_several(
    tmp_path: Path, visit: Visit
) -> None:
    path, _ = written(tmp_path, [line(pair, seed) for seed in (7, 3) for pair in PAIRS])
    page = visit(path, WIDE, "#pair=p2%23a&run=2")
    assert page.locator("#examples-one .facts dd").last.inner_text() == (
        "Adaptive Attention, seed 3"
    )
    choose(page, "run", "Adaptive Attention, seed 7")
    assert rows(page) == len(PAIRS)
    assert page.locator("#examples-one .facts dd").last.inner_text().endswith("seed 7")


def test_nothing_traced(tmp_path: Path, visit: Visit) -> None:
    page = visit(written(tmp_path, [])[0])
    expect(page.get_by_text("No pair was traced")).to_be_visible()
    expect(page.locator("#examples-browser")).to_be_hidden()


TIMED = """([name, value]) => {
  const field = document.querySelector(`#examples-filters [name=${name}]`);
  field.value = value;
  const start = performance.now();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return performance.now() - start;
}"""


@pytest.mark.alone
def test_ten_thousand_pairs_stay_quick(tmp_path: Path, visit: Visit) -> None:
    """The fastest of five, as the machine may be busy; with drawing, 10 to 20 ms were measured."""
    path, _ = written(tmp_path, random_lines(10_000))
    assert path.stat().st_size < 10_000_000  # with Vega
    page = visit(path, Screen(*DESK, "light"))
    for name, value in (("search", "a"), ("order", "unsure"), ("outcome", "1"), ("search", "zz")):
        times = [page.evaluate(TIMED, [name, value]) for _ in range(5)]
        assert min(times) < 50, (name, times)
    page.click("#examples-filters [type=reset]")
    expect(page.locator("#examples-found")).to_contain_text("10,000 of 10,000 pairs")
    assert page.locator("#examples-list [role=option]").count() < 40
    page.locator("#examples-list").press("End")
    assert page.locator("#examples-list-9999").get_attribute("aria-selected") == "true"
