"""Traced pairs are read as they were written, or the line that is wrong is named."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ArtefactError
from reports.stored.examples import read_examples
from tests.reports.write_traces import LABELS, PAIRS, line, random_lines, write_traces

AGAIN = "; run: dvc repro -f -s trace"
Line = dict[str, Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_traces(tmp_path / "artefacts")
    return tmp_path / "artefacts"


def change(root: Path, number: int, changed: Callable[[Line], object]) -> None:
    """Change one line of the traces, counted from 1, in place."""
    path = root / "trace" / "traces.jsonl"
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    changed(lines[number - 1])
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")


def problem(root: Path) -> str:
    with pytest.raises(ArtefactError) as caught:
        read_examples(root)
    return str(caught.value)


def test_what_is_read_is_what_was_written(root: Path) -> None:
    examples = read_examples(root)
    assert examples.labels == LABELS
    assert [pair.pair_id for pair in examples.pairs] == [pair[0] for pair in PAIRS]
    first, stored = examples.pairs[0], line(PAIRS[0])
    assert (first.model, first.seed) == ("adaptive_attention", 1)
    assert (first.label, first.depth) == ("entailment", 0)
    assert (first.premise, first.hypothesis) == (stored["premise"], stored["hypothesis"])
    assert (first.predicted, first.outcome) == ("entailment", "corrected")
    assert first.answer == (0.1562, 0.6875, 0.1562)
    assert [step.label for step in first.steps] == ["neutral", "entailment", "entailment"]
    second = first.steps[1]
    assert (second.halting, second.weight) == (0.2468, 0.3333)
    assert second.probabilities == (0.2, 0.6, 0.2)
    assert second.premise == [0.125, 0.125, 0.5, 0.125, 0.125]  # the step's own word has a half
    assert second.hypothesis == [0.1667, 0.1667, 0.1667, 0.5]


def test_counts_are_those_of_the_hand_made_pairs(root: Path) -> None:
    (run,) = read_examples(root).counted
    assert (run.model, run.seed) == ("adaptive_attention", 1)
    assert run.counts == {
        **{"pairs": 8, "right_after_step_1": 4, "right": 5},
        **{"corrected": 2, "spoiled": 1, "right_throughout": 2, "wrong_throughout": 2},
        "changed_in_between": 1,
    }


def test_nothing_traced_is_nothing_read(tmp_path: Path) -> None:
    write_traces(tmp_path, [])
    examples = read_examples(tmp_path)
    assert (examples.labels, examples.pairs, examples.counted) == ((), (), ())


@pytest.mark.parametrize("file", ["traces.jsonl", "summary.json"])
def test_a_missing_file(root: Path, file: str) -> None:
    (root / "trace" / file).unlink()
    assert problem(root) == f"artefacts/trace/{file} is missing; run: dvc repro trace"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (lambda one: one.pop("outcome"), "has no key outcome"),
        (lambda one: one.update(answer=[0.5, 0.5]), "is not of the stage's form ("),
        (lambda one: one["trace"][1].pop("class"), "has no key class"),
        (lambda one: one["trace"][1]["class_probabilities"].pop("neutral"), "has no key neutral"),
        (lambda one: one["trace"].insert(0, 5), "is not of the stage's form ("),
        (
            lambda one: one["trace"][0].update(weight=float("nan")),
            "is not of the stage's form (has",
        ),
    ],
)
def test_a_damaged_line_is_named(
    root: Path, changed: Callable[[Line], object], sentence: str
) -> None:
    change(root, 2, changed)
    found = problem(root)
    assert found.startswith(f"artefacts/trace/traces.jsonl, line 2: {sentence}")
    assert found.endswith(AGAIN)


def test_a_line_that_was_cut_off(root: Path) -> None:
    path = root / "trace" / "traces.jsonl"
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    assert problem(root).startswith("artefacts/trace/traces.jsonl, line 8: is not JSON (")


def test_counts_of_another_seed(root: Path) -> None:
    path = root / "trace" / "summary.json"
    path.write_text(path.read_text("utf-8").replace("seed_1", "seed_2"), "utf-8")
    assert problem(root) == (
        "artefacts/trace/summary.json: lacks seed 1 of adaptive_attention, which traces.jsonl "
        f"has{AGAIN}"
    )


@pytest.mark.parametrize("stored", ['{"adaptive_attention": 5}', '{"a": {"seed_1": {"pairs": 1}}}'])
def test_damaged_counts(root: Path, stored: str) -> None:
    (root / "trace" / "summary.json").write_text(stored, "utf-8")
    assert problem(root) == (
        f"artefacts/trace/summary.json: must map models to seeds to counts{AGAIN}"
    )


@pytest.mark.slow
def test_ten_thousand_pairs_are_read_in_three_seconds(tmp_path: Path) -> None:
    """CPU time; 1.0 s was measured."""
    write_traces(tmp_path, random_lines(10_000))
    start = time.process_time()
    assert len(read_examples(tmp_path).pairs) == 10_000
    assert time.process_time() - start < 3
