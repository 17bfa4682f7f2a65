"""The browser of traced questions in a real browser: it finds them, steps, and shows the trace."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from reports.blocks import DASH
from reports.page.page import write_page
from reports.report import report
from reports.stored.artefacts import load
from reports.stored.traces import Traced
from tests.page.conftest import SCREENS, STORED, Screen, Visit, drawn, resized
from tests.page.test_reading import CONTRAST, SIDEWAYS, TEXTS
from tests.page.test_traced import check_fits
from tests.page.traced_pages import (
    Browser,
    check_words,
    judged,
    percent,
    questions_page,
    title_of,
)

pytestmark = pytest.mark.slow

ALIKE = "(all) => all.map((element) => element.textContent)"
Asked = tuple[Path, tuple[Traced, ...]]


@pytest.fixture
def questions(asked: Asked, shown: Visit) -> Browser:
    return Browser(shown(asked[0]), "questions").fresh()


def check_shown(browser: Browser, one: Traced) -> None:
    """Every number of the question, in the table of its steps and in its strips."""
    _, *lines = browser.table("rows")
    halts = one.steps[0].halting is not None
    for (_, *cells), step in zip(lines, one.steps, strict=True):
        if halts:
            first = cells.pop(0)
            assert first == (DASH if step.halting is None else f"{percent(step.halting):.1f}")
        assert float(cells[0]) == percent(step.weight)
        assert cells[1] == judged(step.answer, step.answer == one.answer)
        assert float(cells[2]) == percent(step.probability)
    expect(browser.at("maps", "table")).to_have_count(1 if halts else 2)
    strips = [[s.key for s in one.steps], [s.gate for s in one.steps if s.gate is not None]]
    for number, values in enumerate(strips[: 1 if halts else 2]):
        head, *rows = browser.table("maps", number)
        assert head == ["Step", *one.query]
        for (_, *cells), row in zip(rows, values, strict=True):
            assert [float(cell) for cell in cells] == pytest.approx(row, abs=0.0051)


def test_numbers_are_the_traces(asked: Asked, questions: Browser) -> None:
    for at, one in enumerate(asked[1]):
        assert questions.title() == title_of(one)
        check_shown(questions, one)
        for step in range(len(one.steps)):
            check_words(questions, one, step)
            questions.check_step(step + 1, len(one.steps))
            if step + 1 < len(one.steps):
                questions.at("on").click()
        expect(questions.at("on")).to_be_disabled()
        assert questions.at(f"list-{at}").get_attribute("aria-selected") == "true"
        questions.at("next").click(force=at + 1 == len(asked[1]))


def test_the_document_marks_candidates_and_attended_words(asked: Asked, questions: Browser) -> None:
    one = asked[1][0]
    text = questions.at("document", ".text")
    assert text.inner_text().split() == one.document
    marked = text.locator(".candidate").evaluate_all(ALIKE)
    assert marked == [word for word in one.document if word in one.candidates]
    assert set(text.locator(".answer").evaluate_all(ALIKE)) == {one.answer}
    attended = text.locator("mark").evaluate_all(ALIKE)
    assert attended == [word for word in one.document if word in one.attended]


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (0, "Later steps corrected the answer."),
        (2, "Right from the first step."),
        (5, "Wrong from the first step."),
    ],
)
def test_what_later_steps_did(questions: Browser, at: int, said: str) -> None:
    questions.at(f"list-{at}").click()
    assert questions.at("one", ".effect").inner_text() == said


def test_questions_that_are_rarely_met(asked: Asked, visit: Visit, tmp_path: Path) -> None:
    one, _, spoilt, *_ = asked[1]
    small = replace(one, document=[w.lower() for w in one.document], attended=["tessa"])
    query = ["<b>Next</b>", *one.query[1:-1], "</script>"]
    markup = replace(one, query=query, document=["<i>x</i>"], number=one.number + 1)
    path = questions_page(tmp_path, small, replace(spoilt, predicted="Ilse"), markup)
    questions = Browser(visit(path), "questions")
    # candidates are found whatever their letters
    assert questions.at("document", ".text .answer").count() == one.document.count("Tessa")
    questions.at("next").click()
    assert questions.at("one", ".effect").inner_text() == "Later steps spoiled the answer."
    questions.at("next").click()  # words are never markup
    assert questions.at("words", ".token").all_inner_texts() == query
    assert questions.at("document", ".text").inner_text() == "<i>x</i>"


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A question of the published size: 450 words, a query of 31, twelve steps."""
    one = load(STORED).nse.traced[1]
    words = [f"word{at}" for at in range(30)]
    step = replace(one.steps[0], key=[at / 30 for at in range(31)])
    last = replace(step, halting=None)
    query = [*words[:7], "XXXXX", *words[7:]]
    asked = replace(one, document=one.document * 9, query=query, steps=(*[step] * 11, last))
    return questions_page(tmp_path_factory.mktemp("page"), asked)


def test_a_long_one_fits_every_screen(long: Path, shown: Visit, screen: Screen) -> None:
    check_fits(Browser(shown(long, screen), "questions"), screen)


def test_texts_stand_out_from_what_is_behind_them(
    asked: Asked, shown: Visit, screen: Screen
) -> None:
    page = shown(asked[0], screen)
    page.evaluate("location.hash = ''; location.hash = '#question=NE-4&run=2'")
    expect(page.locator("#questions-one .id")).to_contain_text("question 4 of")
    kinds = ("p", "label", "th", "td", "h2", "h3", "h4", "a")
    plain = [f"#questions {kind}:not(.map td)" for kind in kinds]
    more = ["#questions .word *:not(.hidden)", "#questions mark", "#questions .candidate"]
    more += ["#questions button", "#questions select", "#questions dd", "#questions .line"]
    more += ["#questions .judged *:not(.hidden)", "#questions output", "#questions .signs span"]
    ratios = page.evaluate(CONTRAST, ", ".join(plain + more))
    assert len(ratios) > 100
    assert ratios[0][0] >= 4.5, ratios[:5]
    assert page.evaluate(CONTRAST, TEXTS.replace("td, ", ""))[0][0] >= 4.5


def test_filters(asked: Asked, questions: Browser) -> None:
    status = questions.at("found")
    questions.choose("kind", "Common nouns")
    said = (
        "2 of 6; 50.0 % of the answers are right, and 0.0 % of those of the first step by itself."
    )
    expect(status).to_have_text(said)
    questions.choose("right", "wrong")
    assert questions.title() == title_of(asked[1][5])
    questions.clear()
    expect(status).to_contain_text("6 of 6; 83.3 %")
    assert questions.title() == title_of(asked[1][5])  # what was looked at stays
    questions.choose("run", "query gating, 6 steps, seed 1")
    questions.choose("first", "right")
    expect(status).to_contain_text("1 of 6; 100.0 %")
    assert questions.title() == title_of(asked[1][2])


def test_the_contents_name_it(questions: Browser) -> None:
    page = questions.page
    page.locator("#contents a", has_text="what a reader writes over the query").click()
    expect(page.locator("#heading-questions")).to_be_in_viewport()


def test_it_stands_in_the_whole_report_beside_the_pairs(visit: Visit, tmp_path: Path) -> None:
    artefacts = load(STORED)
    path = tmp_path / "index.html"
    write_page(path, "Report", report(artefacts, True, 100))
    address = "#question=NE-17&run=1&step=3"
    page = visit(path, SCREENS[0], address)
    questions = Browser(page, "questions")
    for screen in SCREENS:
        if screen != SCREENS[0]:
            resized(page, screen).evaluate(f"location.hash = ''; location.hash = '{address}'")
        assert questions.title() == title_of(artefacts.nse.traced[2])
        expect(questions.at("at")).to_have_text("Step 3 of 6")
        expect(questions.at("filters")).to_be_in_viewport()
        expect(page.locator("#examples-one")).to_be_visible()
        again = page.evaluate(
            "[...document.querySelectorAll('[id]')].map(e => e.id)"
            ".filter((id, at, all) => all.indexOf(id) !== at)"
        )
        assert again == []
        drawn(page)
        assert page.locator("figure[data-figure^='nse_'][data-drawn='true']").count() == 8
        assert page.evaluate(SIDEWAYS) <= 0, screen
