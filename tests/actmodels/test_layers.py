"""Drop-in layers with adaptive steps."""

from collections.abc import Iterator
from math import cos, sin
from typing import Any, get_args

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from actmodels.configs import ActConfig, ConfidenceExitConfig, MixingConfig, SupervisedActConfig
from actmodels.halting import AdaptiveGRU, AdaptiveLSTM, AdaptiveRNN, UniversalTransformerBlock
from actmodels.halting.states import each

PAIRS = [(AdaptiveRNN, nn.RNN), (AdaptiveGRU, nn.GRU), (AdaptiveLSTM, nn.LSTM)]
RECURRENT = pytest.mark.parametrize(("adaptive", "plain"), PAIRS)
CONFIG = ActConfig(epsilon=0.2, max_steps=5, halting_bias=-0.5)
WORDS = torch.randn(6, 3, 8, generator=torch.Generator().manual_seed(2)).double()
LABELS = torch.arange(18).view(6, 3) % 2


def build(layer: Any, **options: Any) -> Any:
    torch.manual_seed(1)
    sizes = (8, 2, 16, 0.0) if layer is UniversalTransformerBlock else (8, 8)
    built = layer(*sizes, **{"halting": CONFIG, "classify": nn.Linear(8, 2)} | options).double()
    for parameter in built.halting.parameters():  # tokens take different numbers of steps
        parameter.data.mul_(4 if parameter.dim() > 1 else 1)
    return built


@RECURRENT
def test_one_step_is_the_layer_of_torch(adaptive: Any, plain: Any) -> None:
    ours, theirs = build(adaptive, max_steps=1), plain(8, 8).double()
    with torch.no_grad():
        ours.cell.weight_ih[:, 8] = 0  # the flag
        ours.cell.weight_ih[:, :8] = theirs.weight_ih_l0
        for name in ("weight_hh", "bias_ih", "bias_hh"):
            getattr(ours.cell, name).copy_(getattr(theirs, f"{name}_l0"))
    for hx in (None, (WORDS[:1], WORDS[1:2]) if plain is nn.LSTM else WORDS[:1]):
        assert_close(ours(WORDS, hx)[:2], theirs(WORDS, hx))


def slow_act(layer: Any, words: Tensor) -> Iterator[tuple[Tensor, int, Tensor]]:
    """Graves' output, steps and cost of each word of an example, one number at a time."""
    pair = isinstance(layer, AdaptiveLSTM)
    mean: Any = torch.zeros(2 if pair else 1, 8).double()
    for word in words:
        state, mean, total = mean, 0, 0
        for n in range(1, CONFIG.max_steps + 1):
            flagged = torch.cat([word, torch.full((1,), n == 1).double()])
            after = layer.cell(flagged, tuple(state) if pair else state[0])
            state = torch.stack(after) if pair else after[None]
            h = layer.halting.unit(state[0])
            ends = total + h >= 1 - CONFIG.epsilon or n == CONFIG.max_steps
            h = 1 - total if ends else h
            total, mean = total + h, mean + h * state
            if ends:
                break
        yield mean[0], n, n + h


@RECURRENT
def test_against_a_slow_loop_with_gradients(adaptive: Any, plain: Any) -> None:
    layer = build(adaptive)
    output, h_n, prediction = layer(WORDS)
    slow = [row for words in WORDS.unbind(1) for row in slow_act(layer, words)]
    outputs, steps, costs = zip(*slow, strict=True)
    assert len(set(steps)) > 1  # otherwise the test is void
    assert prediction.steps.T.flatten().tolist() == list(steps)
    outputs = torch.stack(outputs).view(3, 6, 8).transpose(0, 1)
    assert_close([output, h_n[0] if plain is nn.LSTM else h_n], [outputs, outputs[-1:]])
    loss = cross_entropy(layer.classify(outputs).flatten(0, 1), LABELS.flatten())
    slow_loss = loss + CONFIG.ponder_weight * torch.stack(costs).mean()
    losses = layer.halting.objective(prediction, LABELS), slow_loss
    grads = [torch.autograd.grad(one, [*layer.parameters()]) for one in losses]
    assert_close(losses[0], losses[1])
    assert_close(*grads)
    assert all(grad.any() for grad in grads[0])


LAYERS = pytest.mark.parametrize("layer", [*(one for one, _ in PAIRS), UniversalTransformerBlock])


@LAYERS
@pytest.mark.parametrize("settings", [ActConfig, SupervisedActConfig, ConfidenceExitConfig])
def test_padding_changes_nothing(layer: Any, settings: Any) -> None:
    built = build(layer, halting=settings(max_steps=5))
    mask = torch.arange(6)[:, None] < torch.tensor([6, 6, 4])
    block = layer is UniversalTransformerBlock
    padded = built(WORDS, **({"padding": ~mask.T} if block else {"mask": mask}))
    long, short = built(WORDS[:, :2]), built(WORDS[:4, 2:])
    assert_close([padded[0][:, :2], padded[0][:4, 2:]], [long[0], short[0]])
    if not block:
        assert_close(padded[1], each(lambda *both: torch.cat(both, dim=1), long[1], short[1]))
    loss = built.halting.objective(padded[-1], LABELS, mask=mask)
    objective = built.halting.objective
    losses = objective(long[-1], LABELS[:, :2]), objective(short[-1], LABELS[:4, 2:])
    assert_close(loss, (12 * losses[0] + 4 * losses[1]) / 16)
    assert all(grad.any() for grad in torch.autograd.grad(loss, [*built.parameters()]))


@LAYERS
def test_all_steps_and_the_other_layout_are_equal(layer: Any) -> None:
    plain, full = build(layer), build(layer, until_halted=False, batch_first=True)
    for one, other in zip(plain(WORDS)[-1][:3], full(WORDS.transpose(0, 1))[-1][:3], strict=True):
        assert_close(one, other.transpose(0, 1))
    exported = torch.export.export(full, (WORDS,)).module()
    assert_close(exported(WORDS)[0], full(WORDS)[0])


def test_a_block_adds_positions_and_steps() -> None:
    block, states = build(UniversalTransformerBlock, max_steps=1, batch_first=True), []
    block.layer.register_forward_pre_hook(lambda _, args: states.append(args[0]))
    block(torch.zeros(1, 3, 8).double())
    angles = [[n / 10**j for j in range(4)] for n in range(3)]
    waves = torch.tensor([[f(a) for a in row for f in (sin, cos)] for row in angles])
    assert_close(states[0][0], (waves + waves[0]).double())


def test_mechanisms_without_a_state_are_refused() -> None:
    for config in get_args(MixingConfig):
        with pytest.raises(ValueError, match=f"halting is {config.__name__}; expected one with a"):
            AdaptiveGRU(4, 8, halting=config())
