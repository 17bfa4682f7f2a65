"""Steps of the active examples only: the same numbers as those of the plain loop."""

import pytest
import torch

from actmodels.fused import shared_batch, stack
from actmodels.models.alternating import AlternatingAttention
from actmodels.registry import MODELS
from actmodels.trial_config import setting_types
from tests.model_checks import make
from tests.samples import VARIANTS, sample_batch, sample_trial

IN_STEPS = [name for name in VARIANTS if MODELS[name].halting and "as_published" not in name]


def spread_model(name: str, **settings: object) -> AlternatingAttention:
    """A model whose examples halt at very different steps."""
    defaults = {"max_steps": 12, "halting_bias": -1.5}
    known = {key: value for key, value in defaults.items() if key in setting_types(name)}
    model = make(sample_trial(name, **known, **settings))
    with torch.no_grad():
        for parameter in getattr(model.halting, "unit", torch.nn.Module()).parameters():
            parameter.mul_(4 if parameter.dim() > 1 else 1)
    return model


def trained(model: AlternatingAttention, loop: str, count: int) -> tuple[torch.Tensor, ...]:
    """Logits and all gradients of one update with dropout."""
    batch = sample_batch(count)
    model.train().zero_grad()
    model.dropout_stream.restart(torch.tensor(5, dtype=torch.int32))
    torch.manual_seed(4)
    prediction = model(batch, loop=loop)
    model.objective(prediction, batch.labels).backward()
    return prediction.logits, *(p.grad for p in model.parameters() if p.grad is not None)


VARIED: list[tuple[str, dict[str, object]]] = [(name, {}) for name in IN_STEPS]
VARIED += [
    ("iterative_attention", {"shared_encoder": True}),
    ("adaptive_attention", {"dropout": 0}),
]
VARIED += [("hop_attention", {"reverted": how}) for how in ("start", "windows", "classifier")]


@pytest.mark.parametrize(("name", "settings"), VARIED)
def test_as_the_plain_loop(name: str, settings: dict[str, object]) -> None:
    """In double precision within 1e-12, gradients of every parameter included."""
    model, batch = spread_model(name, **{"dropout": 0.3, **settings}), sample_batch(24)
    fast, plain, full = (model(batch, loop=loop) for loop in ("active", "until_halted", "cap"))
    torch.testing.assert_close(fast.logits, plain.logits, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(fast.logits, full.logits, rtol=1e-12, atol=1e-14)
    assert torch.equal(fast.steps, full.steps)
    for count in (24, 1):
        in_training = [trained(model, loop, count) for loop in ("active", "until_halted")]
        assert len(in_training[0]) == 1 + len(list(model.parameters()))
        for one, other in zip(*in_training, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)


def test_halted_trials_of_a_fusion_leave_the_step() -> None:
    """Slowest first: the step no longer reads the last trials' weights."""
    models = [spread_model("adaptive_attention", seed=seed) for seed in (1, 2, 3)]
    for model, bias in zip(models, (-3.0, 1.0, 8.0), strict=True):
        with torch.no_grad():
            model.halting.unit.linear.bias.fill_(bias)
    fusion, batch = stack(models), sample_batch(24)
    trials: list[int] = []
    fusion.step.register_forward_hook(lambda _, inputs, __: trials.append(len(inputs[0])))
    together = fusion(shared_batch(batch, 3))
    assert trials[0] == 3 and trials[1] == 2 and trials[-1] == 1
    fusion.objective(together, batch.labels.expand(3, -1)).sum().backward()
    for number, model in enumerate(models):
        alone = model(batch)
        torch.testing.assert_close(together.logits[number], alone.logits)
        assert torch.equal(together.steps[number], alone.steps)
        model.objective(alone, batch.labels).backward()
        for fused, single in zip(fusion.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(fused.grad[number], single.grad, rtol=1e-12, atol=1e-14)


def test_a_nan_probability_halts() -> None:
    model, batch = spread_model("adaptive_attention"), sample_batch(4)
    with torch.no_grad():
        model.halting.unit.linear.bias.fill_(float("nan"))
    assert model.take_steps(batch, 12, "active").probabilities.shape[1] == 1
