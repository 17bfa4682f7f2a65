"""actmodels.halting with networks, losses and precisions of its users."""

import inspect
import pydoc
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import actmodels.halting
from actmodels.halting import Dact, PonderNet, adapt_steps
from actmodels.registry import HALTINGS, load_class
from tests.actmodels.outside import LABELS, MECHANISMS, SIZE, build, parts


@MECHANISMS
@pytest.mark.parametrize("training", [False, True])
def test_every_leading_dimension_is_batch(name: str, training: bool) -> None:
    step, classify, states = parts()
    halting = build(name).train(training)
    torch.manual_seed(1)
    nested = adapt_steps(step, states, halting, classify, batch_dims=2)
    torch.manual_seed(1)
    flat = adapt_steps(step, states.flatten(0, 1), halting, classify)
    for one, other in zip(nested[:5], flat[:5], strict=True):
        if one is not None:
            torch.testing.assert_close(one.flatten(0, 1), other)
    loss = halting.objective(nested, LABELS)
    assert loss.shape == ()
    torch.testing.assert_close(loss, halting.objective(flat, LABELS.flatten()))
    halting.on_update_end(nested, LABELS)


def slow_transformer(layer: nn.Module, state: Tensor, halting: Any, classify: nn.Module) -> Any:
    """Graves' sums for each token, one number at a time; halted tokens are copied."""
    state, unit = state.clone(), halting.unit.linear
    sentences, tokens, _ = state.shape
    sums = [[0.0] * tokens for _ in range(sentences)]
    mean, steps, cost = torch.zeros_like(state), torch.zeros(state.shape[:2]), []
    running = {(i, j) for i in range(sentences) for j in range(tokens)}
    for n in range(1, halting.max_steps + 1):
        after = layer(state)
        state = torch.stack(
            [
                torch.stack([(after if (i, j) in running else state)[i, j] for j in range(tokens)])
                for i in range(sentences)
            ]
        )
        for i, j in sorted(running):
            h = torch.sigmoid(unit.weight[0] @ state[i, j] + unit.bias[0])
            steps[i, j] = n
            if sums[i][j] + h >= 1 - halting.epsilon or n == halting.max_steps:
                h = 1 - sums[i][j]
                cost.append(n + torch.as_tensor(h).double())
                running.remove((i, j))
            sums[i][j] = sums[i][j] + h
            mean = mean.index_put((torch.tensor(i), torch.tensor(j)), h * state[i, j], True)
    return classify(mean), steps, torch.stack(cost).mean()


def test_tokens_of_a_transformer_halt_and_are_attended_to() -> None:
    """In double precision equal to a slow loop, with the gradients of all parameters."""
    _, classify, states = parts()
    layer = nn.TransformerEncoderLayer(SIZE, 2, 16, dropout=0.0, batch_first=True).double()
    halting = build("act")
    prediction = adapt_steps(layer, states, halting, classify, batch_dims=2)
    logits, steps, cost = slow_transformer(layer, states, halting, classify)
    assert len(set(steps.flatten().tolist())) >= 3  # otherwise the test is void
    assert torch.equal(prediction.steps, steps)
    torch.testing.assert_close(prediction.logits, logits, rtol=1e-12, atol=1e-13)
    slow = functional.cross_entropy(logits.flatten(0, 1), LABELS.flatten()) + halting.weight * cost
    fast = halting.objective(prediction, LABELS)
    weights = [p for module in (layer, classify, halting) for p in module.parameters()]
    grads = [torch.autograd.grad(loss, weights, materialize_grads=True) for loss in (fast, slow)]
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def regression(outputs: Tensor, targets: dict[str, Tensor]) -> Tensor:
    return (outputs - targets["means"]).square().mean(dim=-1) * targets["scale"]


def binary(outputs: Tensor, targets: Tensor) -> Tensor:
    logits = outputs.squeeze(-1)
    return functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")


LOSSES = [
    (regression, 2, {"means": torch.randn(5, 2).double(), "scale": torch.arange(5)}),
    (binary, 1, torch.tensor([0.0, 1, 1, 0, 1]).double()),
]


@MECHANISMS
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(("loss", "outputs", "targets"), LOSSES)
def test_any_loss(name: str, loss: Any, outputs: int, targets: Any, training: bool) -> None:
    mixes = issubclass(load_class(HALTINGS[name].halting), Dact | PonderNet)
    step, _, states = parts()
    halting = build(name, **({"classes": False} if mixes else {})).train(training)
    classify = nn.Linear(SIZE, outputs).double()
    prediction = adapt_steps(step, states[0], halting, classify)
    assert prediction.logits.shape == (5, outputs)
    if name == "correctness_exit":
        with pytest.raises(ValueError, match="CorrectnessExit needs labels as targets"):
            halting.objective(prediction, targets, loss=loss)
        return
    value = halting.objective(prediction, targets, loss=loss)
    expected = loss(prediction.logits, targets).mean()
    if prediction.step_logits is None:
        cost = prediction.ponder_cost
        extra = 0 if cost is None else halting.current_ponder_weight * cost.mean()
        torch.testing.assert_close(value, expected + extra)
    value.backward()
    assert all(p.grad.isfinite().all() for p in (*step.parameters(), *classify.parameters()))


def test_one_label_for_all_tokens_of_a_sentence() -> None:
    step, classify, states = parts()
    halting = build("act")
    prediction = adapt_steps(step, states, halting, classify, batch_dims=2)

    def loss(outputs: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(outputs.mean(dim=1), labels, reduction="none")

    value = halting.objective(prediction, torch.tensor([1, -100]), loss=loss)
    expected = loss(prediction.logits[:1], torch.tensor([1])).mean()
    torch.testing.assert_close(value, expected + 0.01 * prediction.ponder_cost[0].mean())


def test_an_empty_batch() -> None:
    step, classify, states = parts()
    halting = build("act")
    prediction = adapt_steps(step, states[0, :0], halting, classify)
    assert prediction.logits.shape == (0, 3)
    assert halting.objective(prediction, LABELS[0, :0]).item() == 0


def test_the_package_names_what_it_offers() -> None:
    names = actmodels.halting.__all__
    assert dir(actmodels.halting) == sorted(names)
    classes = {load_class(one.halting).__name__ for one in HALTINGS.values()}
    settings = {one.settings.__name__ for one in HALTINGS.values()}
    assert classes | settings | {"adapt_steps", "unroll", "Prediction"} <= set(names)
    for name in names:
        assert inspect.getdoc(getattr(actmodels.halting, name)), name
    text = pydoc.plain(pydoc.render_doc(actmodels.halting))
    assert "class Act(" in text and "adapt_steps(step:" in text
    assert repr(build("act")).count("max_steps=12") == 1
    with pytest.raises(AttributeError, match="has no attribute 'Graves'"):
        _ = actmodels.halting.Graves
