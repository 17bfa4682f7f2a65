from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from reports.blocks import DASH
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts
from reports.stored.traces import Traced
from reports.studies.nse.traced import (
    featured_note,
    featured_question,
    featured_sentence,
    featured_table,
    plain,
    rewriting,
    rewriting_sentences,
)
from tests.reports.conftest import GATED, HALTING

MARKS = ["``", "a|b", "*", "_x_", "<b>", "&amp;", "[y](z)", "\\", "!", "#", "~", "''"]


def with_traced(artefacts: Artefacts, *traced: Traced) -> Artefacts:
    return replace(artefacts, nse=replace(artefacts.nse, traced=traced))


def same_everywhere(one: Traced, key: float, blank: float, at: int) -> Traced:
    """The question with one key for all words but the gap's."""
    keys = [blank if place == at else key for place in range(len(one.query))]
    return replace(one, steps=tuple(replace(step, key=keys) for step in one.steps))


def test_rewriting_by_hand(artefacts: Artefacts) -> None:
    found = rewriting(artefacts)
    assert [(one.kind, one.run, one.gated) for one in found] == [
        *(("NE", GATED, True), ("NE", HALTING, False)),
        *(("CN", GATED, True), ("CN", HALTING, False)),
    ]
    halting = found[1]
    # the gap's key is 0.91 to 0.95 in the five steps that write
    assert halting.blank.mean == pytest.approx(0.07) and halting.blank.n == 2
    # key 0.1 + 0.12 t + 0.05 (place mod 4); 10 other words in the first question, 6 in the second
    middle = 1 - 0.1 - 0.36
    first = middle - 0.05 * (0 + 1 + 3 + 0 + 1 + 2 + 3 + 0 + 1 + 2) / 10
    second = middle - 0.05 * (0 + 1 + 3 + 0 + 1 + 2) / 6
    assert halting.others.mean == pytest.approx((first + second) / 2)
    assert halting.gap.mean == pytest.approx(halting.blank.mean - halting.others.mean)


def test_the_last_step_writes_nothing(artefacts: Artefacts) -> None:
    one = artefacts.nse.traced[1]
    last = replace(one.steps[-1], key=[0.0] * len(one.query))
    changed = with_traced(artefacts, replace(one, steps=(*one.steps[:-1], last)))
    assert rewriting(changed)[0].blank.mean == pytest.approx(0.07)


def test_every_gap_counts(artefacts: Artefacts) -> None:
    one = artefacts.nse.traced[1]
    twice = replace(one, query=["XXXXX", *one.query[1:]])
    # the first word: 0.88 - 0.12 t, so 0.54 in the mean; the gap 0.07
    found = rewriting(with_traced(artefacts, twice))[0]
    assert found.blank.mean == pytest.approx((0.54 + 0.07) / 2)


def test_sentences_on_rewriting(artefacts: Artefacts) -> None:
    text = rewriting_sentences(artefacts, published=True)
    assert (
        f"Named entities, *{HALTING}*: of the slot XXXXX a step writes over 7.0 ± 0.00 % in the "
        f"mean, of other words 47.8 ± 0.47 % (1 {MINUS} key; 2 traced questions): clearly less "
        f"than the others ({MINUS}40.83 ± 0.47 points)."
    ) in text
    assert f"*{GATED}*: of the slot XXXXX a step writes over 2.4 ± 0.00 %" in text
    assert f"((1 {MINUS} key)(1 {MINUS} gate); 1 traced question): not clearly less than" in text
    assert text.endswith("the gap is rarely written over (appendix A.1; no figure given).")
    assert "Munkhdalai" not in rewriting_sentences(artefacts, published=False)


def test_rewriting_whichever_way_it_falls(artefacts: Artefacts) -> None:
    first, second = artefacts.nse.traced[1], artefacts.nse.traced[3]
    more = [same_everywhere(first, 0.9, 0.5, 2), same_everywhere(second, 0.9, 0.5, 2)]
    text = rewriting_sentences(with_traced(artefacts, *more), published=False)
    assert "a step writes over 50.0 ± 0.00 % in the mean, of other words 10.0 ± 0.00 %" in text
    assert "clearly more than the others (+40.00 ± 0.00 points)." in text
    alike = [same_everywhere(one, 0.5, 0.5, 2) for one in (first, second)]
    text = rewriting_sentences(with_traced(artefacts, *alike), published=False)
    assert ": about as much as the others (0.00 ± 0.00 points)." in text
    hardly = [same_everywhere(one, 0.5, 0.495, 2) for one in (first, second)]
    text = rewriting_sentences(with_traced(artefacts, *hardly), published=False)
    assert ": about as much as the others (+0.50 ± 0.00 points)." in text  # clear, but nothing


def test_the_featured_question_is_one_that_steps_corrected(artefacts: Artefacts) -> None:
    traced = artefacts.nse.traced
    assert featured_question(traced) == traced[0]
    always, wrong = traced[2], traced[5]
    assert always.right and always.steps[0].answer == always.answer and not wrong.right
    assert featured_question([wrong, always, traced[0]]) == traced[0]
    assert featured_question([wrong, always]) == always
    assert featured_question([wrong]) == wrong
    assert featured_question([]) is None


def test_the_featured_question_step_by_step(artefacts: Artefacts) -> None:
    gated, halting = artefacts.nse.traced[:2]
    lines = [line.strip("| ").split(" | ") for line in str(featured_table(gated)).splitlines()]
    assert lines[0] == [
        *("step", "written over most, %", "XXXXX written over, %", "mean key, %"),
        *("mean gate, %", "weight, %", "answer by itself", "its probability, %"),
    ]
    # “Next”: 78 % · 70 %; “Mara”: 78 % · 68 %; the gap 9 % · 66 %
    assert lines[2][:3] == ["1", "Next 54.6, Mara 53.0", "5.9"]
    assert lines[2][5:] == ["0.0", "Mara", "38.0"]
    assert lines[7][:3] == ["6", DASH, DASH] and lines[7][4:] == [DASH, "100.0", "Tessa", "78.0"]
    other = [line.strip("| ").split(" | ") for line in str(featured_table(halting)).splitlines()]
    assert other[0][4] == "halting, %" and [row[4] for row in other[2:]] == [
        *("10.0", "20.0", "30.0", "40.0", "50.0"),
        DASH,
    ]
    assert "*Gate* is g" in featured_note(gated) and "*Halting*" not in featured_note(gated)
    assert "*Halting* is e" in featured_note(halting) and "*Gate*" not in featured_note(halting)


def test_the_featured_question_in_words(artefacts: Artefacts) -> None:
    assert "The answer is Tessa, rightly." in featured_sentence(artefacts.nse.traced[0])
    assert "The answer is lamp, but right is rope." in featured_sentence(artefacts.nse.traced[5])


def test_words_are_never_markup(artefacts: Artefacts) -> None:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    (_, inline, _) = parser.parse(f"Said: {plain(MARKS)}")
    assert [child.type for child in inline.children or []].count("text") >= 1
    assert not [c for c in inline.children or [] if c.type not in ("text", "text_special")]
    assert "".join(c.content for c in inline.children or []) == f"Said: {' '.join(MARKS)}"
    one = artefacts.nse.traced[0]
    steps = tuple(replace(step, answer="a|b") for step in one.steps)
    html = parser.render(
        str(featured_table(replace(one, steps=steps, query=[*MARKS[:11], "XXXXX"][1:])))
    )
    assert html.count("<td>a|b</td>") + html.count(">a|b</td>") >= 6
    assert html.count("<tr>") == 7
