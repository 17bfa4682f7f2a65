"""What a trace says of each step is what the equations say, one number at a time."""

import pytest
import torch

from actmodels.reader.evaluation import evaluate, trace_query
from tests.actmodels.reader import slow_reader
from tests.actmodels.reader.samples import make, questions


def close(found: torch.Tensor, expected: list[list[float]] | list[float]) -> None:
    wanted = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("strategy", ["query_gating", "adaptive_computation"])
def test_equals_the_equations(strategy: str) -> None:
    reader, split = make(strategy=strategy, steps=3), questions(6)
    for number in range(6):
        start, end = split.document_offsets[number : number + 2].tolist()
        first, last = split.query_offsets[number : number + 2].tolist()
        told: list[slow_reader.Told] = []
        probabilities, weights = slow_reader.answer(
            reader,
            split.document_ids[start:end].tolist(),
            split.query_ids[first:last].tolist(),
            split.candidate_at[start:end].tolist(),
            int(split.candidate_counts[number]),
            told,
        )
        found = trace_query(reader, split, number)
        close(found.keys, [step.key for step in told])
        close(found.attention, [step.attention for step in told])
        close(found.step_probabilities, [step.answer for step in told])
        close(found.weights, weights)
        close(found.probabilities, probabilities)
        if strategy == "query_gating":
            assert found.gates is not None and found.halting is None
            close(found.gates, [step.gate for step in told[:-1]])
        else:
            assert found.halting is not None and found.gates is None
            close(found.halting, [step.chance for step in told[:-1]])


def test_one_step_writes_nothing() -> None:
    found = trace_query(make(steps=1), questions(2), 1)
    assert found.gates is None and found.halting is None
    assert found.weights.tolist() == [1.0] and len(found.keys) == 1


def test_it_is_the_answer_of_an_evaluation() -> None:
    reader, split = make(strategy="adaptive_computation", dropout=0.5).train(), questions(5)
    measured = evaluate(reader, split, 5)
    reader.train()  # a trace asks without dropout, whatever the reader was doing
    for number in range(5):
        found = trace_query(reader, split, number)
        assert int(found.probabilities.argmax()) == int(measured.predictions[number])
        steps = measured.step_predictions[number]
        assert torch.equal(found.step_probabilities.argmax(dim=1), steps)
