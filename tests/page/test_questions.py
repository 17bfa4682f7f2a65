"""The browser of traced questions in a real browser: it finds them, steps, and shows the trace."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reports.artefacts import load
from reports.charts.plans import figures
from reports.markdown import DASH
from reports.nse_queries import Traced
from reports.page.examples import examples_island
from reports.page.page import write_page
from reports.page.questions import questions_island
from reports.page.trials import trials_island
from reports.render import report
from tests.page.conftest import STORED, Screen, Visit
from tests.page.example_pages import percent
from tests.page.question_pages import Stored, check_query, name, names, written
from tests.page.test_reading import CONTRAST, SIDEWAYS, TEXTS

pytestmark = pytest.mark.slow

ALIKE = "(all) => all.map((element) => element.textContent)"


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A question of the published size: 450 words, a query of 31, twelve steps."""
    one = load(STORED).nse.traced[1]
    words = [f"word{at}" for at in range(30)]
    step = replace(one.steps[0], key=[at / 30 for at in range(31)])
    last = replace(step, halting=None)
    query = [*words[:7], "XXXXX", *words[7:]]
    asked = replace(one, document=one.document * 9, query=query, steps=(*[step] * 11, last))
    return written(tmp_path_factory.mktemp("page"), (asked,))


def judged(word: str, one: Traced) -> str:
    return f"{word} ✓ right" if word == one.answer else f"{word} ✗ wrong"


def check_shown(page: Page, one: Traced) -> None:
    """Every number of the question, in the table of its steps and in its strips."""
    lines = page.locator("#questions-rows tbody tr")
    expect(lines).to_have_count(len(one.steps))
    halts = one.steps[0].halting is not None
    for at, step in enumerate(one.steps):
        cells = lines.nth(at).locator("td").all_inner_texts()
        if halts:
            first = cells.pop(0)
            assert first == (DASH if step.halting is None else f"{percent(step.halting):.1f}")
        assert float(cells[0]) == percent(step.weight)
        assert cells[1] == judged(step.answer, one)
        assert float(cells[2]) == percent(step.probability)
    strips = page.locator("#questions-maps table")
    expect(strips).to_have_count(1 if halts else 2)
    for table, values in zip(
        strips.all(),
        ([s.key for s in one.steps], [s.gate for s in one.steps if s.gate is not None]),
        strict=False,
    ):
        heads = table.locator("thead th").all_text_contents()
        assert heads == ["Step", *one.query]
        for at, row in enumerate(values):
            cells = table.locator("tbody tr").nth(at).locator("td").all_text_contents()
            assert [float(cell) for cell in cells] == pytest.approx(row, abs=0.0051)
        assert table.locator("tbody tr").count() == len(values)


def test_numbers_are_the_traces(asked: Stored, visit: Visit) -> None:
    page = visit(asked[0])
    for at, one in enumerate(asked[1]):
        assert name(page) == names(one)
        check_shown(page, one)
        for step in range(len(one.steps)):
            check_query(page, one, step)
            said = f"Step {step + 1} of {len(one.steps)}"
            expect(page.locator("#questions-at")).to_have_text(said)
            if step + 1 < len(one.steps):
                page.click("#questions-on")
        expect(page.locator("#questions-on")).to_be_disabled()
        assert page.locator(f"#questions-list-{at}").get_attribute("aria-selected") == "true"
        page.click("#questions-next", force=at + 1 == len(asked[1]))


def test_the_document_marks_candidates_and_attended_words(asked: Stored, visit: Visit) -> None:
    page = visit(asked[0])
    one = asked[1][0]
    text = page.locator("#questions-document .text")
    assert text.inner_text().split() == one.document
    marked = text.locator(".candidate").evaluate_all(ALIKE)
    assert marked == [word for word in one.document if word in one.candidates]
    assert set(text.locator(".answer").evaluate_all(ALIKE)) == {one.answer}
    attended = text.locator("mark").evaluate_all(ALIKE)
    assert attended == [word for word in one.document if word in one.attended]


def test_candidates_are_found_whatever_their_letters(
    asked: Stored, visit: Visit, tmp_path: Path
) -> None:
    one = asked[1][0]
    small = replace(one, document=[w.lower() for w in one.document], attended=["tessa"])
    page = visit(written(tmp_path, (small,)))
    assert page.locator("#questions-document .text .answer").count() == one.document.count("Tessa")


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (0, "Later steps corrected the answer."),
        (2, "Right from the first step."),
        (5, "Wrong from the first step."),
    ],
)
def test_what_later_steps_did(asked: Stored, visit: Visit, at: int, said: str) -> None:
    page = visit(asked[0])
    page.click(f"#questions-list-{at}")
    assert page.locator("#questions-one .effect").inner_text() == said


def test_steps_that_spoiled_the_answer(asked: Stored, visit: Visit, tmp_path: Path) -> None:
    one = asked[1][2]
    page = visit(written(tmp_path, (replace(one, predicted="Ilse"),)))
    said = "Later steps spoiled the answer."
    assert page.locator("#questions-one .effect").inner_text() == said


def test_it_fits_every_screen(asked: Stored, long: Path, visit: Visit, screen: Screen) -> None:
    for path in (asked[0], long):
        page = visit(path, screen)
        assert page.evaluate(SIDEWAYS) <= 0
        parts = ("list", "words", "rows", "maps", "document")
        for part in parts:
            box = page.locator(f"#questions-{part}").bounding_box()
            assert box is not None and box["x"] >= 0
            assert box["x"] + box["width"] <= screen.width
        for cell in page.locator("#questions-rows td:visible").all():
            box = cell.bounding_box()
            assert box is not None and box["x"] + box["width"] <= screen.width


def test_texts_stand_out_from_what_is_behind_them(
    asked: Stored, visit: Visit, screen: Screen
) -> None:
    page = visit(asked[0], screen, "#question=NE-4&run=2")
    kinds = ("p", "label", "th", "td", "h2", "h3", "h4", "a")
    plain = [f"#questions {kind}:not(.map td)" for kind in kinds]
    more = ["#questions .word *:not(.hidden)", "#questions mark", "#questions .candidate"]
    more += ["#questions button", "#questions select", "#questions dd", "#questions .line"]
    more += ["#questions .judged *:not(.hidden)", "#questions output", "#questions .signs span"]
    ratios = page.evaluate(CONTRAST, ", ".join(plain + more))
    assert len(ratios) > 100
    assert ratios[0][0] >= 4.5, ratios[:5]
    assert page.evaluate(CONTRAST, TEXTS.replace("td, ", ""))[0][0] >= 4.5


def test_a_step_is_chosen_by_a_click(asked: Stored, visit: Visit) -> None:
    page = visit(asked[0])
    page.click("#questions-rows tr[data-step='2'] button")
    check_query(page, asked[1][0], 2)
    page.click("#questions-maps table:first-child tr[data-step='4'] td >> nth=0")
    expect(page.locator("#questions-at")).to_have_text("Step 5 of 6")
    page.locator("#questions-step").fill("2")
    check_query(page, asked[1][0], 1)


def test_words_are_never_markup(asked: Stored, visit: Visit, tmp_path: Path) -> None:
    one = asked[1][0]
    query = ["<b>Next</b>", *one.query[1:-1], "</script>"]
    page = visit(written(tmp_path, (replace(one, query=query, document=["<i>x</i>"]),)))
    assert page.locator("#questions-words .token").all_inner_texts() == query
    assert page.locator("#questions-document .text").inner_text() == "<i>x</i>"


def test_it_stands_in_the_whole_report_beside_the_pairs(
    visit: Visit, tmp_path: Path, screen: Screen
) -> None:
    artefacts = load(STORED)
    charts = figures(artefacts)
    islands = [trials_island(artefacts), examples_island(artefacts.examples, 100)]
    islands += [questions_island(artefacts.nse.traced)]
    path = tmp_path / "index.html"
    write_page(path, "Report", report(artefacts, charts, True), charts, islands)
    page = visit(path, screen, "#question=NE-17&run=1&step=3")
    assert name(page) == names(artefacts.nse.traced[2])
    expect(page.locator("#questions-at")).to_have_text("Step 3 of 6")
    expect(page.locator("#questions-filters")).to_be_in_viewport()
    expect(page.locator("#examples-one")).to_be_visible()
    again = page.evaluate(
        "[...document.querySelectorAll('[id]')].map(e => e.id)"
        ".filter((id, at, all) => all.indexOf(id) !== at)"
    )
    assert again == []
    waiting = "[...document.querySelectorAll('figure[data-figure]')].every(f => f.dataset.drawn)"
    page.wait_for_function(waiting, timeout=60_000)
    assert page.locator("figure[data-figure^='nse_'][data-drawn='true']").count() == 8
    assert page.evaluate(SIDEWAYS) <= 0
