import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from reports.page.browsers import examples_island, packed, questions_island
from reports.stored.artefacts import Artefacts
from reports.stored.traces import Example, Examples, read_examples
from tests.reports.conftest import GATED, HALTING
from tests.reports.write_traces import LABELS, PAIRS, line, random_lines, write_traces


@pytest.fixture
def examples(tmp_path: Path) -> Examples:
    write_traces(tmp_path)
    return read_examples(tmp_path)


def unpacked(text: str) -> dict[str, Any]:
    """A slow reader of what `packed` writes, after its documentation."""
    run, pair_id, places, depth, premise, hypothesis, states, signs = text.split("\t")
    assert len(signs) % 2 == 0
    shares = [int(signs[at : at + 2], 32) / 1000 for at in range(0, len(signs), 2)]

    def take(count: int) -> list[float]:
        taken = shares[:count]
        del shares[:count]
        return taken

    answer, steps = take(3), []
    for state in states:
        halting, weight = take(2)
        steps.append(
            {
                **{"halting": halting, "weight": weight, "state": LABELS[int(state)]},
                **{"classes": take(3), "hypothesis": take(len(hypothesis.split(" ")))},
                "premise": take(len(premise.split(" "))),
            }
        )
    assert shares == []
    sentences = {"premise": premise.split(" "), "hypothesis": hypothesis.split(" ")}
    head = {"run": int(run), "pair_id": pair_id, "places": places, "depth": int(depth)}
    return head | sentences | {"answer": answer, "steps": steps}


def check(pair: Example, found: dict[str, Any]) -> None:
    """All that is packed is the pair's, shares to half a thousandth."""
    assert (found["pair_id"], found["depth"]) == (pair.pair_id, pair.depth)
    assert (found["premise"], found["hypothesis"]) == (pair.premise, pair.hypothesis)
    assert found["answer"] == pytest.approx(pair.answer, abs=5.01e-4)
    assert len(found["steps"]) == len(pair.steps)
    for one, step in zip(found["steps"], pair.steps, strict=True):
        assert one["state"] == step.label
        assert one["halting"] == pytest.approx(step.halting, abs=5.01e-4)
        assert one["weight"] == pytest.approx(step.weight, abs=5.01e-4)
        assert one["classes"] == pytest.approx(step.probabilities, abs=5.01e-4)
        assert one["premise"] == pytest.approx(step.premise, abs=5.01e-4)
        assert one["hypothesis"] == pytest.approx(step.hypothesis, abs=5.01e-4)


def test_all_is_there_to_a_thousandth(examples: Examples, tmp_path: Path) -> None:
    write_traces(tmp_path / "more", random_lines(50))
    for pair in (*examples.pairs, *read_examples(tmp_path / "more").pairs):
        check(pair, unpacked(packed(pair, 0, LABELS)))


def test_labels_and_outcome_are_told_by_their_places(examples: Examples) -> None:
    places = [unpacked(packed(pair, 3, LABELS))["places"] for pair in examples.pairs]
    # gold, answer, outcome: corrected 0, spoiled 1, right 2 or wrong 3 throughout, changed 4
    assert places == ["110", "101", "222", "013", "004", "213", "110", "222"]
    assert unpacked(packed(examples.pairs[0], 3, LABELS))["run"] == 3


class Selects(HTMLParser):
    """The words of each select's options."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.options: dict[str, list[str]] = {}
        self.name: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "select":
            self.name = dict(attrs)["name"]
            assert self.name is not None
            self.options[self.name] = []

    def handle_endtag(self, tag: str) -> None:
        self.name = None if tag == "select" else self.name

    def handle_data(self, data: str) -> None:
        if self.name and data.strip():
            self.options[self.name].append(data.strip())


def test_the_choices_are_those_that_the_pairs_allow(examples: Examples) -> None:
    options = Selects(examples_island(examples, 100).html).options
    assert options["label"] == options["predicted"] == ["any", *LABELS]
    assert options["steps"] == ["any number", "1", "2", "3", "4"]
    assert options["run"] == ["any", "Adaptive Attention, seed 1"]  # hidden, as it is one
    assert options["outcome"][:3] == ["any effect", "corrected", "spoiled"]


def test_several_seeds_can_be_told_apart(tmp_path: Path) -> None:
    write_traces(tmp_path, [line(pair, seed) for seed in (2, 1) for pair in PAIRS])
    island = examples_island(read_examples(tmp_path), 100)
    seeds = ["Adaptive Attention, seed 2", "Adaptive Attention, seed 1"]
    assert Selects(island.html).options["run"] == ["any", *seeds]
    assert [text[0] for text in island.data["pairs"]] == ["0"] * 8 + ["1"] * 8


def test_what_is_left_out_is_said(examples: Examples) -> None:
    whole, part = examples_island(examples, 8), examples_island(examples, 3)
    assert "traced pairs; the others" not in whole.html
    assert "3 test pairs as Adaptive Attention, seed 1 saw them" in part.html
    assert "They are the first of 8 traced pairs; the others are in" in part.html
    assert part.data["pairs"] == whole.data["pairs"][:3]


def test_nothing_traced_is_said(tmp_path: Path) -> None:
    write_traces(tmp_path, [])
    island = examples_island(read_examples(tmp_path), 5)
    assert "No pair was traced" in island.html
    assert island.data["pairs"] == []


def test_a_pair_of_snlis_size_is_below_eight_hundred_bytes(tmp_path: Path) -> None:
    """24 words, up to 8 steps: 10,000 of them stay below 8 MB."""
    write_traces(tmp_path, random_lines(500))
    data = examples_island(read_examples(tmp_path), 500).data
    assert len(json.dumps(data, separators=(",", ":")).encode()) < 500 * 800


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
