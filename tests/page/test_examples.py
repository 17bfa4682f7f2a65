"""The browser of traced pairs in a real browser: it steps, filters, sorts, and shows the trace."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from reports.stored.traces import Example, Examples
from tests.page.conftest import WIDE, Visit
from tests.page.traced_pages import Browser, check_words, judged, pairs_page, percent
from tests.reports.write_traces import PAIRS, line, random_lines

pytestmark = pytest.mark.slow


@pytest.fixture
def pairs(stored: tuple[Path, Examples], shown: Visit) -> Browser:
    return Browser(shown(stored[0]), "examples").fresh()


def check_shown(browser: Browser, pair: Example) -> None:
    """Every number of the pair, in the table of its steps and in its maps."""
    _, *lines, answer = browser.table("rows")
    for cells, step in zip(lines, pair.steps, strict=True):
        assert cells[-1] == judged(step.label, step.label == pair.label)
        numbers = [step.halting, step.weight, *step.probabilities]
        assert [float(cell) for cell in cells[1:-1]] == [percent(number) for number in numbers]
    assert [float(cell) for cell in answer[3:-1]] == [percent(share) for share in pair.answer]
    assert answer[-1] == judged(pair.predicted, pair.predicted == pair.label)
    for number, name in enumerate(("hypothesis", "premise")):
        head, *rows = browser.table("maps", number)
        assert head == ["Step", *getattr(pair, name)]
        wanted = [[percent(weight) for weight in getattr(step, name)] for step in pair.steps]
        assert [[float(cell) for cell in cells[1:]] for cells in rows] == wanted


def test_numbers_are_the_traces(stored: tuple[Path, Examples], pairs: Browser) -> None:
    for at, pair in enumerate(stored[1].pairs[:12]):
        assert pairs.title() == pair.pair_id
        check_shown(pairs, pair)
        for step in range(len(pair.steps)):
            check_words(pairs, pair, step)
            pairs.check_step(step + 1, len(pair.steps))
            if step + 1 < len(pair.steps):
                pairs.at("on").click()
        expect(pairs.at("on")).to_be_disabled()
        assert pairs.at(f"list-{at}").get_attribute("aria-selected") == "true"
        pairs.at("next").click()


def test_it_says_what_it_marks(pairs: Browser) -> None:
    assert pairs.at("one", ".effect").inner_text() == "More steps corrected the answer."
    facts = pairs.at("one", ".facts dd").all_inner_texts()
    assert facts == ["entailment", "entailment ✓ right", "neutral ✗ wrong", "3"]


def test_text_of_a_pair_is_never_markup(pairs: Browser) -> None:
    pairs.search("p4#a")
    assert pairs.at("words", ".premise .token").all_inner_texts()[-1] == "</script>"
    assert pairs.at("words", ".hypothesis .token").nth(3).inner_text() == "<b>song</b>"


def test_a_seed_is_part_of_the_address_where_there_are_several(
    tmp_path: Path, visit: Visit
) -> None:
    path, _ = pairs_page(tmp_path, [line(pair, seed) for seed in (7, 3) for pair in PAIRS])
    browser = Browser(visit(path, WIDE, "#pair=p2%23a&run=2"), "examples")
    told = browser.at("one", ".facts dd").last
    assert told.inner_text() == "Adaptive Attention, seed 3"
    browser.choose("run", "Adaptive Attention, seed 7")
    assert browser.rows() == len(PAIRS)
    assert told.inner_text().endswith("seed 7")


def test_nothing_traced(tmp_path: Path, visit: Visit) -> None:
    page = visit(pairs_page(tmp_path, [])[0])
    expect(page.get_by_text("No pair was traced")).to_be_visible()
    expect(page.locator("#examples-browser")).to_be_hidden()


@pytest.mark.parametrize(
    ("choices", "fits"),
    [
        ({"label": "neutral"}, lambda p: p.label == "neutral"),
        ({"predicted": "contradiction"}, lambda p: p.predicted == "contradiction"),
        ({"right": "wrong"}, lambda p: p.predicted != p.label),
        ({"outcome": "corrected"}, lambda p: p.outcome == "corrected"),
        ({"outcome": "spoiled"}, lambda p: p.outcome == "spoiled"),
        ({"outcome": "changed in between"}, lambda p: p.outcome == "changed_in_between"),
        ({"steps": "4"}, lambda p: len(p.steps) == 4),
        (
            {"label": "entailment", "right": "right", "steps": "3"},
            lambda p: p.label == p.predicted == "entailment" and len(p.steps) == 3,
        ),
    ],
)
def test_filters(
    stored: tuple[Path, Examples],
    pairs: Browser,
    choices: dict[str, str],
    fits: Callable[[Example], bool],
) -> None:
    every = stored[1].pairs
    wanted = [pair for pair in every if fits(pair)]
    assert 0 < len(wanted) < len(every)
    for name, label in choices.items():
        pairs.choose(name, label)
    right = 100 * sum(pair.predicted == pair.label for pair in wanted) / len(wanted)
    steps = sum(len(pair.steps) for pair in wanted) / len(wanted)
    said = pairs.at("found").inner_text()
    assert said.startswith(f"{len(wanted)} of {len(every)} pairs; {right:.1f} % of")
    assert abs(float(said.split("right, ")[1].split(" ")[0]) - steps) < 0.0051
    assert (pairs.rows(), pairs.title()) == (len(wanted), wanted[0].pair_id)
    pairs.at("list").press("End")
    assert pairs.title() == wanted[-1].pair_id
    pairs.clear()
    expect(pairs.at("found")).to_contain_text(f"{len(every)} of")
    assert pairs.title() == wanted[-1].pair_id  # what was looked at stays


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("most steps first", lambda pair: -len(pair.steps)),
        ("fewest steps first", lambda pair: len(pair.steps)),
        ("most confident first", lambda pair: -percent(max(pair.answer))),
        ("least confident first", lambda pair: percent(max(pair.answer))),
    ],
)
def test_order(
    stored: tuple[Path, Examples], pairs: Browser, order: str, key: Callable[[Example], float]
) -> None:
    wanted = [pair.pair_id for pair in sorted(stored[1].pairs, key=key)]
    pairs.choose("order", order)
    pairs.at("list").press("Home")
    seen = []
    for _ in wanted:
        seen.append(pairs.title())
        pairs.page.keyboard.press("ArrowDown")
    assert seen == wanted
    pairs.choose("order", "as stored")
    pairs.at("list").press("Home")
    assert pairs.title() == stored[1].pairs[0].pair_id


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
    path, _ = pairs_page(tmp_path, random_lines(10_000))
    assert path.stat().st_size < 10_000_000  # with Vega
    browser = Browser(visit(path), "examples")
    for name, value in (("search", "a"), ("order", "unsure"), ("outcome", "1"), ("search", "zz")):
        times = [browser.page.evaluate(TIMED, [name, value]) for _ in range(5)]
        assert min(times) < 50, (name, times)
    browser.clear()
    expect(browser.at("found")).to_contain_text("10,000 of 10,000 pairs")
    assert browser.at("list", "[role=option]").count() < 40
    browser.at("list").press("End")
    assert browser.at("list-9999").get_attribute("aria-selected") == "true"
