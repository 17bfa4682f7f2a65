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
from tests.page.conftest import PHONE, STORED, WIDE, Screen, Visit
from tests.page.example_pages import percent
from tests.page.test_reading import CONTRAST, SIDEWAYS, TEXTS

pytestmark = pytest.mark.slow

MARKDOWN = "# Report\n\nText.\n\n[Questions](index.html#questions)\n\n## After\n\nMore text.\n"
Stored = tuple[Path, tuple[Traced, ...]]
ALIKE = "(all) => all.map((element) => element.textContent)"


def written(folder: Path, traced: tuple[Traced, ...]) -> Path:
    """A page with the browser of these questions alone."""
    path = folder / "page.html"
    write_page(path, "Report", MARKDOWN, {}, [questions_island(traced)])
    return path


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    traced = load(STORED).nse.traced
    return written(tmp_path_factory.mktemp("page"), traced), traced


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


def name(page: Page) -> tuple[str, str]:
    """Which question is shown, and whose answer to it."""
    reader = page.locator("#questions-one dt", has_text="Reader").locator("xpath=../dd")
    return page.locator("#questions-one .id").inner_text(), reader.inner_text()


def names(one: Traced) -> tuple[str, str]:
    title = {"NE": "Named entities", "CN": "Common nouns"}[one.kind]
    return f"{title}, question {one.number} of dev", f"{one.run}, seed {one.seed}"


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


def check_query(page: Page, one: Traced, at: int) -> None:
    """The words of the query with what a step writes over them."""
    words = page.locator("#questions-query .word")
    assert words.locator(".token").all_inner_texts() == one.query
    assert page.locator("#questions-query .word.blank .token").all_inner_texts() == ["XXXXX"]
    shown = words.locator("small").all_inner_texts()
    if at == len(one.steps) - 1:
        assert set(shown) == {DASH}
        expect(page.locator("#questions-query .said")).to_contain_text("writes nothing")
        return
    wanted = [100 * share for share in one.steps[at].rewritten]
    assert [float(share) for share in shown] == pytest.approx(wanted, abs=0.11)


def test_numbers_are_the_traces(stored: Stored, visit: Visit) -> None:
    page = visit(stored[0])
    for at, one in enumerate(stored[1]):
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
        page.click("#questions-next", force=at + 1 == len(stored[1]))


def test_the_document_marks_candidates_and_attended_words(stored: Stored, visit: Visit) -> None:
    page = visit(stored[0])
    one = stored[1][0]
    text = page.locator("#questions-document .text")
    assert text.inner_text().split() == one.document
    marked = text.locator(".candidate").evaluate_all(ALIKE)
    assert marked == [word for word in one.document if word in one.candidates]
    assert set(text.locator(".answer").evaluate_all(ALIKE)) == {one.answer}
    attended = text.locator("mark").evaluate_all(ALIKE)
    assert attended == [word for word in one.document if word in one.attended]


def test_candidates_are_found_whatever_their_letters(
    stored: Stored, visit: Visit, tmp_path: Path
) -> None:
    one = stored[1][0]
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
def test_what_later_steps_did(stored: Stored, visit: Visit, at: int, said: str) -> None:
    page = visit(stored[0])
    page.click(f"#questions-list-{at}")
    assert page.locator("#questions-one .effect").inner_text() == said


def test_steps_that_spoiled_the_answer(stored: Stored, visit: Visit, tmp_path: Path) -> None:
    one = stored[1][2]
    page = visit(written(tmp_path, (replace(one, predicted="Ilse"),)))
    said = "Later steps spoiled the answer."
    assert page.locator("#questions-one .effect").inner_text() == said


def test_it_fits_every_screen(stored: Stored, long: Path, visit: Visit, screen: Screen) -> None:
    for path in (stored[0], long):
        page = visit(path, screen)
        assert page.evaluate(SIDEWAYS) <= 0
        parts = ("list", "query", "rows", "maps", "document")
        for part in parts:
            box = page.locator(f"#questions-{part}").bounding_box()
            assert box is not None and box["x"] >= 0
            assert box["x"] + box["width"] <= screen.width
        for cell in page.locator("#questions-rows td:visible").all():
            box = cell.bounding_box()
            assert box is not None and box["x"] + box["width"] <= screen.width


def test_texts_stand_out_from_what_is_behind_them(
    stored: Stored, visit: Visit, screen: Screen
) -> None:
    page = visit(stored[0], screen, "#question=NE-4&run=2")
    kinds = ("p", "label", "th", "td", "h2", "h3", "h4", "a")
    plain = [f"#questions {kind}:not(.map td)" for kind in kinds]
    more = ["#questions .word *:not(.hidden)", "#questions mark", "#questions .candidate"]
    more += ["#questions button", "#questions select", "#questions dd", "#questions .line"]
    more += ["#questions .judged *:not(.hidden)", "#questions output", "#questions .signs span"]
    ratios = page.evaluate(CONTRAST, ", ".join(plain + more))
    assert len(ratios) > 100
    assert ratios[0][0] >= 4.5, ratios[:5]
    assert page.evaluate(CONTRAST, TEXTS.replace("td, ", ""))[0][0] >= 4.5


def test_keys(stored: Stored, visit: Visit) -> None:
    page, traced = visit(stored[0]), stored[1]
    box = page.locator("#questions-list")
    box.focus()
    for key, place in (("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert name(page) == names(traced[place])
        assert box.get_attribute("aria-activedescendant") == f"questions-list-{place}"
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(page.locator("#questions-at")).to_have_text(f"Step {step} of 6")
        current = page.locator("#questions [aria-current=step]")
        assert [row.get_attribute("data-step") for row in current.all()] == [str(step - 1)] * 3
    page.keyboard.press("End")
    assert name(page) == names(traced[-1])
    page.focus("#questions-rows tr[data-step='3'] button")
    page.keyboard.press("Enter")
    expect(page.locator("#questions-at")).to_have_text("Step 4 of 6")
    page.fill("[name=search]", "")
    page.keyboard.type("jk")  # letters in the search stay letters
    assert page.input_value("[name=search]") == "jk"


def test_every_control_is_reached_by_tab(stored: Stored, visit: Visit) -> None:
    page = visit(stored[0])
    page.focus("[name=search]")
    reached = []
    for _ in range(24):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    for control in ("kind", "run", "right", "first", "questions-list", "questions-next"):
        assert control in reached
    assert {"questions-link", "questions-step", "questions-on"} <= set(reached)


@pytest.mark.parametrize(
    ("searched", "found"),
    [
        ("beans", [2, 3]),
        ("OWEN next", [0, 1]),
        ("rope", [4, 5]),
        ("eans", []),
    ],
)
def test_search(stored: Stored, visit: Visit, searched: str, found: list[int]) -> None:
    page = visit(stored[0])
    page.fill("[name=search]", searched)
    status = page.locator("#questions-found")
    if not found:
        expect(status).to_have_text("None of 6 fits.")
        expect(page.locator("#questions-one")).to_be_hidden()
        return
    assert status.inner_text().startswith(f"{len(found)} of 6; ")
    assert name(page) == names(stored[1][found[0]])
    page.click("#questions-next")
    assert name(page) == names(stored[1][found[1]])
    expect(page.locator("#questions-next")).to_be_disabled()


def test_filters(stored: Stored, visit: Visit) -> None:
    page, status = visit(stored[0]), "#questions-found"
    page.select_option("[name=kind]", label="Common nouns")
    said = (
        "2 of 6; 50.0 % of the answers are right, and 0.0 % of those of the first step by itself."
    )
    expect(page.locator(status)).to_have_text(said)
    page.select_option("[name=right]", label="wrong")
    assert name(page) == names(stored[1][5])
    page.click("#questions-filters [type=reset]")
    expect(page.locator(status)).to_contain_text("6 of 6; 83.3 %")
    assert name(page) == names(stored[1][5])  # what was looked at stays
    page.select_option("[name=run]", label="query gating, 6 steps, seed 1")
    page.select_option("[name=first]", label="right")
    expect(page.locator(status)).to_contain_text("1 of 6; 100.0 %")
    assert name(page) == names(stored[1][2])


def test_a_step_is_chosen_by_a_click(stored: Stored, visit: Visit) -> None:
    page = visit(stored[0])
    page.click("#questions-rows tr[data-step='2'] button")
    check_query(page, stored[1][0], 2)
    page.click("#questions-maps table:first-child tr[data-step='4'] td >> nth=0")
    expect(page.locator("#questions-at")).to_have_text("Step 5 of 6")
    page.locator("#questions-step").fill("2")
    check_query(page, stored[1][0], 1)


def test_the_address_names_the_question_and_the_step(stored: Stored, visit: Visit) -> None:
    path, traced = stored
    page = visit(path)
    assert page.evaluate("location.hash") == ""
    page.click("#questions-list-3")
    page.click("#questions-on")
    named = page.evaluate("location.hash")
    assert named == "#question=NE-17&run=2&step=2"
    assert page.locator("#questions-link").get_attribute("href") == named
    other = visit(path, Screen(*PHONE, "light"), named)
    assert name(other) == names(traced[3])
    check_query(other, traced[3], 1)
    expect(other.locator("#questions-filters")).to_be_in_viewport()
    other.evaluate("location.hash = '#question=CN-3&run=1'")
    expect(other.locator("#questions-one .id")).to_have_text("Common nouns, question 3 of dev")
    other.evaluate("location.hash = '#question=CN-99'")
    said = "No question CN-99 of that reader is on this page."
    expect(other.locator("#questions-found")).to_have_text(said)


def test_words_are_never_markup(stored: Stored, visit: Visit, tmp_path: Path) -> None:
    one = stored[1][0]
    query = ["<b>Next</b>", *one.query[1:-1], "</script>"]
    page = visit(written(tmp_path, (replace(one, query=query, document=["<i>x</i>"]),)))
    assert page.locator("#questions-query .token").all_inner_texts() == query
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
    expect(page.locator("#examples-pair")).to_be_visible()
    again = page.evaluate(
        "[...document.querySelectorAll('[id]')].map(e => e.id)"
        ".filter((id, at, all) => all.indexOf(id) !== at)"
    )
    assert again == []
    waiting = "[...document.querySelectorAll('figure[data-figure]')].every(f => f.dataset.drawn)"
    page.wait_for_function(waiting, timeout=60_000)
    assert page.locator("figure[data-figure^='nse_'][data-drawn='true']").count() == 8
    assert page.evaluate(SIDEWAYS) <= 0


def test_the_contents_name_it(stored: Stored, visit: Visit) -> None:
    page = visit(stored[0], WIDE)
    link = page.locator("#contents a", has_text="what a reader writes over the query")
    link.click()
    expect(page.locator("#heading-questions")).to_be_in_viewport()
