"""The curriculum: when depths join, and when steps begin to cost."""

from typing import Any

import pytest
import torch

from actmodels.metrics import Metrics
from actmodels.seeding import generator
from studies.multihop.training import MultihopTraining
from tests.studies.multihop.samples import multihop_trial, sample_multihop_data

METRICS = Metrics(0.0, 1.0, 1.0, 0.0, 1.0)


def training(model: str = "hop_attention", **settings: Any) -> MultihopTraining:
    return MultihopTraining(multihop_trial(model, **settings), sample_multihop_data())


def charged(one: MultihopTraining) -> bool:
    """Train an epoch; return whether steps had a cost."""
    one.train_epoch()
    return bool(one.model.halting.adds_ponder_cost)


def test_depths_join_when_the_last_is_learned_and_steps_cost_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, several = training(join_accuracy=0.9), training(join_accuracy=0.5, max_hops=3)
    right = one.data.dev.labels.clone()
    wrong = (right + 1) % 3
    first_alone = torch.where(one.data.dev.depths == 1, right, wrong)

    def scored(one: MultihopTraining, labels: torch.Tensor) -> tuple[int, int]:
        result = type("Result", (), {"predictions": labels, "labels": right, "metrics": METRICS})
        monkeypatch.setattr("studies.multihop.training.evaluate", lambda *_: result)
        one.dev_metrics()
        return one.depths_in_training, one.epochs_since_join

    assert scored(one, wrong) == (1, 0) and not charged(one)
    assert scored(one, first_alone) == (2, 0) and not charged(one)
    assert scored(one, first_alone) == (2, 1) and charged(one)
    several.depths_in_training = 2
    assert scored(several, first_alone)[0] == 2  # the third depth waits for the second alone


def test_pairs_are_new_and_of_the_joined_depths() -> None:
    one = training(batch_size=64)
    batches = [*one.batches(generator("epoch", 1)), *one.batches(generator("epoch", 2))]
    assert len({batch.premise.numpy().tobytes() for batch in batches}) == 6
    assert all(batch.premise.shape == (64, 24) for batch in batches)


def test_every_mechanism_but_ponder_net_starts_without_a_cost() -> None:
    for name in ("dact", "target_steps", "supervised_act", "ponder_net"):
        one = training(f"hop_attention_{name}")
        assert charged(one) is (name == "ponder_net")
        if name == "target_steps":
            assert float(one.model.ponder_weight or 0.0) == 0.0
