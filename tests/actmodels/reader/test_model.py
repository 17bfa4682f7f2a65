"""The reader: the equations one number at a time, the four checks, one step, one batch learnt."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import pad

from actmodels.reader.questions import NO_CANDIDATE, UNKNOWN, QuestionBatch, collate
from tests.actmodels.reader import slow_reader
from tests.actmodels.reader.samples import make, questions

STRATEGIES = ["query_gating", "adaptive_computation"]
VARIANTS = [{"strategy": strategy, "steps": 3} for strategy in STRATEGIES]


def batch_of(count: int, seed: int = 0) -> QuestionBatch:
    return collate(questions(count, seed), torch.arange(count))


@pytest.mark.parametrize("steps", [1, 2, 4])
@pytest.mark.parametrize("forget_bias", [0.0, 1.0])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_equals_the_equations(strategy: str, steps: int, forget_bias: float) -> None:
    reader, batch = make(strategy=strategy, steps=steps, forget_bias=forget_bias), batch_of(5)
    answer = reader(batch)
    for row in range(5):
        document = batch.document[row][batch.document_mask[row]].tolist()
        query = batch.query[row][batch.query_mask[row]].tolist()
        at = batch.candidate_at[row][batch.document_mask[row]].tolist()
        own = batch.candidate_mask[row].numel()
        expected, weights = slow_reader.answer(reader, document, query, at, own)
        probabilities = answer.log_probabilities[row].exp()
        torch.testing.assert_close(
            probabilities, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12
        )
        torch.testing.assert_close(
            answer.weights[row], torch.tensor(weights, dtype=torch.float64), rtol=0, atol=1e-12
        )
        mean_step = sum(n * weight for n, weight in enumerate(weights, start=1))
        assert answer.steps[row].item() == pytest.approx(mean_step, abs=1e-12)


def test_one_step_is_the_same_model_in_both() -> None:
    """Section 4.2: NSE (T = 1), without parameters that nothing reads."""
    gating, adaptive = (make(strategy=strategy, steps=1) for strategy in STRATEGIES)
    assert gating.test is None and adaptive.test is None
    assert list(gating.state_dict()) == list(adaptive.state_dict())
    a, b = gating(batch_of(6)), adaptive(batch_of(6))
    assert torch.equal(a.log_probabilities, b.log_probabilities)
    assert torch.equal(a.weights, torch.ones(6, 1, dtype=torch.float64))
    assert a.steps.tolist() == [1.0] * 6


def test_parameters_by_arithmetic() -> None:
    """Published size: two BiLSTMs of 2 x 218 units, read 872 -> 436, compose, write, o."""
    k, half, words = 436, 218, 5
    contexts = 2 * 2 * 4 * half * (words + half + 1)
    read, write = 4 * k * (2 * k + k + 1), 4 * k * (k + k + 1)
    compose = 3 * k * k + k
    assert make(memory_size=k, steps=1).parameter_count == contexts + read
    assert make(memory_size=k).parameter_count == contexts + read + write + compose
    adaptive = make(memory_size=k, strategy="adaptive_computation").parameter_count
    assert adaptive == contexts + read + write + compose + k


def test_parameters_start_in_their_range() -> None:
    reader = make(parameter_range=0.1, memory_size=40)
    drawn = [p for n, p in reader.named_parameters() if p.requires_grad and "embedding.w" not in n]
    values = torch.cat([p.detach().flatten() for p in drawn])
    assert values.min() >= -0.1 and values.max() < 0.1
    assert abs(values.mean().item()) < 1e-3
    assert values.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.02)


@pytest.mark.parametrize("variant", VARIANTS)
def test_save_and_load(variant: dict[str, Any], tmp_path: Path) -> None:
    reader, batch = make(**variant), batch_of(6)
    torch.save(reader.state_dict(), tmp_path / "reader.pt")
    other = make(**variant)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(-0.5)
    expected = reader(batch).log_probabilities
    assert not torch.equal(other(batch).log_probabilities, expected)
    other.load_state_dict(torch.load(tmp_path / "reader.pt", weights_only=True))
    assert torch.equal(other(batch).log_probabilities, expected)


def without_gradient(**variant: Any) -> list[str]:
    reader, batch = make(**variant), batch_of(12)
    reader.objective(reader(batch), batch.answers).backward()
    return [
        name
        for name, parameter in reader.named_parameters()
        if parameter.requires_grad
        and (parameter.grad is None or not bool(parameter.grad.abs().sum() > 0))
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_parameter_gets_a_gradient(variant: dict[str, Any]) -> None:
    assert without_gradient(**variant) == []


def test_an_lstm_of_one_step_has_no_past_to_learn_from() -> None:
    """The read LSTM takes T steps and the write LSTM T - 1, both from a hidden state of zeros."""
    assert without_gradient(steps=1) == ["read.recurrence.cell.weight_hh"]
    for strategy in STRATEGIES:
        missing = without_gradient(steps=2, strategy=strategy)
        assert missing == ["test.recurrence.cell.weight_hh"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_batch_equals_singles(variant: dict[str, Any]) -> None:
    reader, split = make(**variant), questions(9)
    together = reader(collate(split, torch.arange(9)))
    for row in range(9):
        alone = reader(collate(split, torch.tensor([row])))
        own = int(split.candidate_counts[row])
        assert alone.log_probabilities.shape == (1, own)
        mine = together.log_probabilities[row]
        torch.testing.assert_close(mine[:own], alone.log_probabilities[0])
        assert mine[own:].tolist() == [float("-inf")] * (len(mine) - own)
        torch.testing.assert_close(together.weights[row], alone.weights[0])


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_changes_nothing(variant: dict[str, Any], training: bool) -> None:
    """Nor does what stands in it; not under dropout either, whose masks are told by their place."""
    reader, batch = make(**variant).train(training), batch_of(6)
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
        results.append((answer.log_probabilities[:, :4], gradients))
    torch.testing.assert_close(results[0][0], results[1][0][:, : results[0][0].shape[1]])
    for a, b in zip(results[0][1], results[1][1], strict=True):
        torch.testing.assert_close(a, b)


def test_frozen_embeddings_and_padding_stay() -> None:
    frozen, trained = make(trained_embeddings=False), make(trained_embeddings=True)
    assert not frozen.embedding.weight.requires_grad
    batch = batch_of(12)
    trained.objective(trained(batch), batch.answers).backward()
    assert trained.embedding.weight.grad is not None
    assert trained.embedding.weight.grad[0].abs().sum() == 0  # padding
    assert trained.parameter_count == frozen.parameter_count


@pytest.mark.parametrize("variant", VARIANTS)
def test_learns_one_batch_by_heart(variant: dict[str, Any]) -> None:
    reader, batch = make(**variant, memory_size=16).train(), batch_of(12)
    reader.dropout.rate = 0.0
    optimizer = torch.optim.Adam([p for p in reader.parameters() if p.requires_grad], lr=0.02)
    for _ in range(100):
        optimizer.zero_grad()
        loss = reader.objective(reader(batch), batch.answers)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
    assert torch.equal(reader(batch).log_probabilities.argmax(dim=-1), batch.answers)


@pytest.mark.parametrize("variant", VARIANTS)
def test_single_precision_learns_the_same(variant: dict[str, Any]) -> None:
    """torch has other kernels for it, which must not mind that the second bias is not trained."""
    gradients = []
    for dtype in (torch.float64, torch.float32):
        reader, batch = make(**variant).to(dtype).train(), batch_of(12)
        reader.dropout.rate = 0.0
        reader.objective(reader(batch), batch.answers).backward()
        gradients.append([p.grad.double() for p in reader.parameters() if p.grad is not None])
    assert len(gradients[0]) == sum(p.requires_grad for p in make(**variant).parameters())
    for exact, single in zip(*gradients, strict=True):
        torch.testing.assert_close(single, exact, rtol=1e-3, atol=1e-5)
