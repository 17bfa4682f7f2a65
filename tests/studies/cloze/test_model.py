"""The reader against the equations, its invariances, its parameters and the reader of one step."""

import math
from typing import Any

import pytest
import torch
from torch.nn.functional import pad

from studies.cloze.data import NO_CANDIDATE, UNKNOWN, QuestionBatch, collate
from studies.cloze.memory import AdaptiveComputation, mix_steps, pointer_sum
from studies.cloze.training import ReaderTraining, trace_query
from tests.model_checks import without_gradient
from tests.studies.cloze import slow_reader
from tests.studies.cloze.samples import make, questions, reader_data, reader_trial

STRATEGIES = ["query_gating", "adaptive_computation"]
BOTH = pytest.mark.parametrize("strategy", STRATEGIES)


def close(result: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(result, expected, rtol=0, atol=1e-12)


def batch_of(count: int) -> QuestionBatch:
    return collate(questions(count), torch.arange(count))


@pytest.mark.parametrize("steps", [1, 2, 4])
@BOTH
def test_equals_the_equations(strategy: str, steps: int) -> None:
    """A batch and, question by question, its trace."""
    reader, split = make(strategy=strategy, steps=steps), questions(5)
    batch = collate(split, torch.arange(5))
    answer = reader(batch)
    for row in range(5):
        document = batch.document[row][batch.document_mask[row]]
        query = batch.query[row][batch.query_mask[row]]
        at = batch.candidate_at[row][batch.document_mask[row]].tolist()
        count = int(split.candidate_counts[row])
        expected, weights, slow = slow_reader.answer(reader, document, query, at, count)
        close(answer.log_probabilities[row, :count].exp(), expected)
        assert bool((answer.log_probabilities[row, count:] == float("-inf")).all())
        close(answer.weights[row], weights)
        mean_step = weights @ torch.arange(1, steps + 1, dtype=torch.float64)
        close(answer.steps[row], mean_step)
        trace = trace_query(reader, split, row)
        close(trace.keys, torch.stack([step.key for step in slow]))
        close(trace.attention, torch.stack([step.attention for step in slow]))
        close(trace.step_probabilities, torch.stack([step.answer for step in slow]))
        close(trace.weights, weights)
        close(trace.probabilities, expected)
        gates = [step.gate for step in slow if step.gate is not None]
        halting = [step.halting for step in slow if step.halting is not None]
        assert len(gates) + len(halting) == steps - 1
        for values, reference in ((trace.gates, gates), (trace.halting, halting)):
            assert (values is None) == (not reference)
            if values is not None:
                close(values, torch.stack(reference))


def test_parameters_by_arithmetic() -> None:
    """Published size: two BiLSTMs of 2 x 218 units, read 872 -> 436, compose, write, o."""
    k, half, words = 436, 218, 5

    def parameters(**changes: Any) -> int:
        return ReaderTraining(reader_trial(memory_size=k, **changes), reader_data()).parameters

    contexts = 2 * 2 * 4 * half * (words + half + 1)
    read, write = 4 * k * (2 * k + k + 1), 4 * k * (k + k + 1)
    compose = 3 * k * k + k
    assert parameters(steps=1) == contexts + read
    assert parameters() == contexts + read + write + compose
    adaptive = parameters(strategy="adaptive_computation")
    assert adaptive == contexts + read + write + compose + k


@BOTH
@pytest.mark.parametrize(
    ("steps", "missing"),
    [(3, []), (2, ["test.recurrence.cell.weight_hh"]), (1, ["read.recurrence.cell.weight_hh"])],
)
def test_every_parameter_gets_a_gradient(strategy: str, steps: int, missing: list[str]) -> None:
    """The read LSTM takes T steps, the write LSTM T - 1; one step has no recurrent gradient."""
    reader, batch = make(strategy=strategy, steps=steps), batch_of(12)
    objective = reader.objective(reader(batch), batch.answers)
    assert without_gradient(reader, objective) == missing


@BOTH
@pytest.mark.parametrize("training", [False, True])
def test_padding_changes_nothing(strategy: str, training: bool) -> None:
    """Neither its length nor its content, even with dropout, whose masks depend on the position."""
    reader, batch = make(strategy=strategy, steps=3).train(training), batch_of(6)
    longer = QuestionBatch(
        pad(batch.document, (0, 5), value=UNKNOWN),
        pad(batch.document_mask, (0, 5)),
        pad(batch.query, (0, 3), value=UNKNOWN),
        pad(batch.query_mask, (0, 3)),
        pad(batch.candidate_at, (0, 5), value=NO_CANDIDATE),
        pad(batch.candidate_mask, (0, 2)),
        batch.answers,
    )
    results = []
    for one in (batch, longer):
        reader.dropout_stream.restart(torch.tensor(7, dtype=torch.int32))
        reader.zero_grad()
        answer = reader(one)
        reader.objective(answer, one.answers).backward()
        gradients = [p.grad.clone() for p in reader.parameters() if p.grad is not None]
        results.append([answer.log_probabilities[:, : batch.candidate_mask.shape[1]], *gradients])
    torch.testing.assert_close(*results)


def test_scores_far_apart_keep_their_gradient() -> None:
    """Single precision: a probability of exp(-400) is 0, its logarithm is -400."""
    scores = torch.tensor([[400.0, 0.0]], requires_grad=True)
    result = pointer_sum(scores, torch.tensor([[True, True]]), torch.tensor([[0, 1]]), 2)
    assert result[0, 1].item() == -400.0
    result[0, 1].backward()
    assert scores.grad.tolist() == [[-1.0, 1.0]]


def test_a_weight_of_zero_and_an_absent_candidate_have_finite_gradients() -> None:
    probabilities = [[[0.5, 0.3, 0.0], [0.1, 0.7, 0.0]]]
    steps = torch.tensor(probabilities, dtype=torch.float64).log().requires_grad_()
    weights = torch.tensor([[0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    result = mix_steps(steps, weights)
    assert result[0, 0].item() == pytest.approx(math.log(0.1), abs=1e-12)
    result[0, :2].sum().backward()
    assert all(bool(one.grad.isfinite().all()) for one in (steps, weights))


@pytest.mark.parametrize(("chance", "weights"), [(0.0, [0.0, 0.0, 1.0]), (1.0, [1.0, 0.0, 0.0])])
def test_sure_to_halt_and_sure_not_to(chance: float, weights: list[float]) -> None:
    halting = [torch.tensor([chance], requires_grad=True) for _ in range(2)]
    step_logs = torch.tensor([[[0.2], [0.6], [0.9]]]).log()
    answer, taken = AdaptiveComputation(2).answer(step_logs, halting)
    assert taken.tolist() == [weights]
    answer.sum().backward()
    assert all(bool(h.grad.isfinite().all()) for h in halting if h.grad is not None)
