"""Hand-written backward passes: values and all gradients of plain PyTorch, in double precision."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from actmodels.configs import ActRnnConfig, AnsweringConfig, FixedStepsConfig
from actmodels.models.act_rnn import ActRnn
from actmodels.modules.by_hand import trains_by_hand
from studies.sequences.config import LogicConfig, ParityConfig
from studies.sequences.training import build_task, score
from tests.model_checks import make
from tests.samples import sample_batch, sample_trial
from tests.studies.sequences.samples import ACT, DACT, PONDER_NET

TARGET = sample_trial("adaptive_attention_target_steps").halting
HALTINGS = (ACT, TARGET, FixedStepsConfig(steps=3), PONDER_NET, DACT)


def assert_equal_by_hand(model: nn.Module, run: Any) -> None:
    """Compare outputs and gradients of both ways; `run` returns outputs, the objective first."""
    results = []
    for by_hand in (True, False):
        model.by_hand = by_hand
        assert trains_by_hand(model) is by_hand
        model.zero_grad()
        objective, *outputs = run()
        objective.backward()
        results.append([objective, *outputs, *(p.grad for p in model.parameters())])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14, equal_nan=True)


@pytest.mark.parametrize("oov_rule", ["own", "trained"])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("count", [1, 24])
def test_decomposable_attention(oov_rule: str, dropout: float, count: int) -> None:
    model = make(sample_trial("decomposable_attention", dropout=dropout, oov_rule=oov_rule)).train()
    batch = sample_batch(count)

    def run() -> list[Tensor]:
        model.dropout_stream.restart(torch.tensor(5, dtype=torch.int32))
        prediction = model(batch)
        return [model.objective(prediction, batch.labels), prediction.logits]

    assert_equal_by_hand(model, run)


def test_a_sentence_without_words_is_nan_in_both() -> None:
    """And training ends there, because the loss is not finite."""
    model = make(sample_trial("decomposable_attention", dropout=0.0)).train()
    batch = sample_batch(6)
    batch.hypothesis_mask[2] = False
    for model.by_hand in (True, False):
        logits = model(batch).logits
        assert logits.isnan().all(dim=1).tolist() == [row == 2 for row in range(6)]


@pytest.mark.parametrize("cell", ["rnn", "lstm"])
@pytest.mark.parametrize("halting", HALTINGS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("count", [1, 16])
def test_act_rnn(cell: Any, halting: Any, count: int) -> None:
    """Sequences of several lengths; examples halt at different steps, some at the cap."""
    answers = isinstance(halting, AnsweringConfig)
    task = build_task(ParityConfig(bits=6) if answers else LogicConfig(vectors=4, gates=3))
    torch.manual_seed(1)
    config = ActRnnConfig(cell=cell, state_size=5, init="normal", init_std=0.6)
    model = ActRnn(task.inputs, task.outputs.size, config, halting).double()
    for name, parameter in model.halting.named_parameters():
        parameter.data = parameter * 6 if name.endswith("weight") else parameter * 0 - 1.5
    batch = task.sample(count, torch.Generator().manual_seed(4))
    batch = batch._replace(inputs=batch.inputs.double())

    def run() -> list[Tensor]:
        pondered = model(batch.inputs, batch.mask)
        return [score(task.outputs, pondered, batch).objective(model.halting), *pondered[:2]]

    assert_equal_by_hand(model, run)
    steps = run()[2][batch.mask]
    varied = not isinstance(halting, FixedStepsConfig) and count > 1
    assert not varied or len(steps.unique()) > 2  # otherwise the test is void


@pytest.mark.parametrize("name", ["decomposable_attention", "hop_attention"])
def test_second_derivatives_by_plain_pytorch(name: str) -> None:
    """In evaluation and without hand-written derivatives, as for torch.func and compilers."""
    model, batch = make(sample_trial(name)), sample_batch(4)
    weight = model.words.projection.weight
    for training, by_hand in ((False, True), (True, False)):
        model.train(training).by_hand = by_hand
        loss = model(batch).logits.square().sum()
        (gradient,) = torch.autograd.grad(loss, weight, create_graph=True)
        assert bool(torch.autograd.grad(gradient.sum(), weight)[0].abs().sum() > 0)


@pytest.mark.parametrize("name", ["decomposable_attention", "adaptive_attention", "hop_attention"])
def test_mixed_precision_is_by_plain_pytorch(name: str) -> None:
    model, batch = make(sample_trial(name, dropout=0.0)).float().train(), sample_batch(6)
    expected = model(batch).logits
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = model(batch)
    model.objective(prediction, batch.labels).backward()
    torch.testing.assert_close(prediction.logits.float(), expected, rtol=0.1, atol=0.1)


@pytest.mark.parametrize("name", ["decomposable_attention", "adaptive_attention", "hop_attention"])
def test_a_graph_can_be_used_twice(name: str) -> None:
    model, batch = make(sample_trial(name)).train(), sample_batch(6)
    objective, weights = model.objective(model(batch), batch.labels), [*model.parameters()]
    first = torch.autograd.grad(objective, weights, retain_graph=True)
    for one, again in zip(first, torch.autograd.grad(objective, weights), strict=True):
        assert torch.equal(one, again)
