import json
import time
from pathlib import Path

import pytest

from reports.stored.traces import read_examples, read_queries
from tests.reports.conftest import STORED
from tests.reports.write_traces import LABELS, PAIRS, line, random_lines, write_traces


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_traces(tmp_path / "artefacts")
    return tmp_path / "artefacts"


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


@pytest.mark.slow
def test_ten_thousand_pairs_are_read_in_three_seconds(tmp_path: Path) -> None:
    """CPU time; 1.0 s was measured."""
    write_traces(tmp_path, random_lines(10_000))
    start = time.process_time()
    assert len(read_examples(tmp_path).pairs) == 10_000
    assert time.process_time() - start < 3


def test_what_is_read_of_questions_is_what_was_written() -> None:
    found, lines = read_queries(STORED), (STORED / "nse" / "queries.jsonl").read_text("utf-8")
    stored = [json.loads(line) for line in lines.splitlines()]
    assert len(found) == 6
    for one, written in zip(found, stored, strict=True):
        assert (one.questions, one.run, one.seed, one.number) == (
            *(written["questions"], written["run"], written["seed"]),
            written["number"],
        )
        for key in ("document", "query", "candidates", "answer", "predicted", "attended"):
            assert getattr(one, key) == written[key]
        for step, of in zip(one.steps, written["steps"], strict=True):
            assert all(getattr(step, key) == value for key, value in of.items())
    assert [one.right for one in found] == [True] * 5 + [False]


def test_what_a_step_writes_over() -> None:
    gated, halting = read_queries(STORED)[:2]
    # “Next”: key 0.1 + 0.12, gate 0.1 + 0.2; the gap: key 0.91, gate 0.1 + 0.2 + 2 * 0.02
    assert gated.steps[0].rewritten[0] == pytest.approx(0.78 * 0.7)
    assert gated.steps[0].rewritten[2] == pytest.approx(0.09 * 0.66)
    assert halting.steps[0].rewritten[0] == pytest.approx(0.78)
