"""What the browser of questions is given: every trace to a thousandth, each question once."""

import json
from dataclasses import replace

import pytest

from reports.page.browsers import questions_island
from reports.stored.artefacts import Artefacts
from tests.reports.test_examples_island import Selects
from tests.reports.write_nse import GATED, HALTING


def test_every_trace_is_there_to_a_thousandth(artefacts: Artefacts) -> None:
    data = questions_island(artefacts.nse.traced).data
    assert len(data["questions"]) == 3 and len(data["traces"]) == 6
    for one, found in zip(artefacts.nse.traced, data["traces"], strict=True):
        asked = data["questions"][found["question"]]
        assert (data["codes"][asked["kind"]], asked["number"]) == (one.questions, one.number)
        assert data["runs"][found["run"]] == f"{one.run}, seed {one.seed}"
        for key in ("document", "query", "candidates", "answer"):
            assert asked[key] == getattr(one, key)
        assert (found["predicted"], found["attended"]) == (one.predicted, one.attended)
        for step, of in zip(one.steps, found["steps"], strict=True):
            assert of["key"] == pytest.approx(step.key, abs=5.01e-4)
            assert of["gate"] == (step.gate and pytest.approx(step.gate, abs=5.01e-4))
            assert of["halting"] == (step.halting and pytest.approx(step.halting, abs=5.01e-4))
            assert of["weight"] == pytest.approx(step.weight, abs=5.01e-4)
            assert (of["answer"], of["probability"]) == (step.answer, round(step.probability, 3))


def test_the_title_says_what_is_seen(artefacts: Artefacts) -> None:
    island = questions_island(artefacts.nse.traced)
    assert island.heading == "Questions, step by step: what a reader writes over the query"
    assert "3 dev questions (named entities, common nouns) as query gating, 6 steps" in island.html


def test_the_choices_are_those_that_the_questions_allow(artefacts: Artefacts) -> None:
    island = questions_island(artefacts.nse.traced)
    options = Selects(island.html).options
    assert options["kind"] == ["any", "Named entities", "Common nouns"]
    assert options["run"] == ["any", f"{GATED}, seed 1", f"{HALTING}, seed 1"]
    assert "hidden" not in island.html.replace(' hidden>\n<div class="tools"', "")
    few = questions_island(artefacts.nse.traced[:1]).html
    assert few.count("<label hidden>") == 2 and "1 dev question (named entities)" in few


def test_words_of_a_run_are_never_markup(artefacts: Artefacts) -> None:
    one = replace(artefacts.nse.traced[0], run="<b>run</b>")
    html = questions_island([one]).html
    assert "<b>" not in html and "&lt;b&gt;run" in html


def test_a_question_of_the_published_size_is_below_twelve_kilobytes(artefacts: Artefacts) -> None:
    """A document of 450 words, a query of 30, twelve steps: a hundred stay near a megabyte."""
    one = artefacts.nse.traced[0]
    step = replace(one.steps[0], key=[0.1234] * 30, gate=[0.4321] * 30)
    size = replace(one, document=["words"] * 450, query=["XXXXX"] * 30, steps=(step,) * 12)
    data = questions_island([size]).data
    assert len(json.dumps(data, separators=(",", ":")).encode()) < 12_000
