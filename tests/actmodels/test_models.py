"""Every model: the five checks, the parameter budget, and that it can learn."""

from pathlib import Path

import pytest
import torch

from actmodels.models.pair_model import build, parameter_count
from actmodels.packed.stack import can_pack
from actmodels.registry import MODELS
from actmodels.training import Training
from tests import model_checks
from tests.samples import sample_data, sample_trial


@pytest.mark.parametrize("model", MODELS)
class TestFiveChecks:
    def test_save_and_load(self, model: str, tmp_path: Path) -> None:
        model_checks.check_save_and_load(sample_trial(model), tmp_path)

    def test_gradients(self, model: str) -> None:
        model_checks.check_every_parameter_gets_a_gradient(sample_trial(model))

    def test_batch_equals_singles(self, model: str) -> None:
        model_checks.check_batch_equals_singles(sample_trial(model))

    def test_padding(self, model: str) -> None:
        model_checks.check_padding_changes_nothing(sample_trial(model))

    def test_packed(self, model: str) -> None:
        if not can_pack(model):
            pytest.skip("its examples depend on the others of their batch")
        model_checks.check_packed_equals_single([sample_trial(model, seed=s) for s in (1, 2, 3)])


def test_parameters_of_decomposable_attention() -> None:
    """Projection 60,000 + F 80,400 + G 120,400 + H 120,400 + output 603 (Parikh: 382k)."""
    model = build(sample_trial("decomposable_attention", width=200), torch.zeros(4, 300))
    assert parameter_count(model) == 60_000 + 80_400 + 120_400 + 120_400 + 603 == 381_803


def test_parameters_of_adaptive_attention() -> None:
    """Projection, F, two attentions, two gates, GRU, halting, output (paper: 990k)."""
    config = sample_trial("adaptive_attention", width=128, state_size=200, gate_size=128)
    parts = (38_528, 33_024, 51_456, 116_992, 314_112, 427_800, 201, 603)
    assert parameter_count(build(config, torch.zeros(4, 300))) == sum(parts) == 982_716


# Every network with ACT or without halting, and every way of halting with one network.
LEARNERS = [name for name in MODELS if not name.startswith("iterative_attention_")]


@pytest.mark.parametrize("model", LEARNERS)
def test_overfits_a_few_pairs(model: str) -> None:
    data = sample_data(train=32)
    config = sample_trial(model, max_epochs=60, width=16, dropout=0.0)
    assert any(epoch.train_accuracy == 1.0 for epoch in Training(config, data).epochs())


def test_dropout_does_not_compound_over_steps() -> None:
    """A unit dropped at one step is dropped at all, and a kept one is scaled only once."""
    model = model_checks.make(sample_trial("adaptive_attention", dropout=0.5)).train()
    batch = model_checks.sample_batch()
    seen = []
    step = model.step

    def watch(module: torch.nn.Module, inputs: tuple[object, ...], output: object) -> None:
        seen.append(inputs[1:])

    handle = step.register_forward_hook(watch)
    model.unroll(batch, 4, until_halted=False)
    handle.remove()
    assert len(seen) == 4
    for memories, dropout in seen[1:]:
        assert all(a is b for a, b in zip(memories, seen[0][0], strict=True))
        assert all(a is b for a, b in zip(dropout, seen[0][1], strict=True))
    assert set(seen[0][1].inputs.unique().tolist()) == {0.0, 2.0}


def test_stopping_early_changes_nothing() -> None:
    """Steps after the last example halted weigh nothing."""
    model = model_checks.make(sample_trial("adaptive_attention", halting_bias=1.0, max_steps=20))
    batch = model_checks.sample_batch()
    assert model.unroll(batch, 20, until_halted=True).states.shape[1] < 20
    early, full = model(batch), model(batch, loop="cap")
    torch.testing.assert_close(early.logits, full.logits)
    assert torch.equal(early.steps, full.steps)
