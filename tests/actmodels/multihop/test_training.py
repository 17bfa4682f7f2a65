"""The curriculum over hops: who joins when, when steps begin to cost, and a resumed training."""

import io
from dataclasses import replace
from typing import Any

import pytest
import torch

from actmodels.data.trial_data import TrialData
from actmodels.draws import generator
from actmodels.errors import ConfigError
from actmodels.figures import Figures
from actmodels.multihop.config import (
    MultihopTrialConfig,
    build_multihop_trial,
    multihop_setting_types,
)
from actmodels.multihop.corpus import draw_split, word_vectors
from actmodels.multihop.training import MultihopTraining
from tests.samples import SETTINGS

STREAM = {"max_hops": 2, "join_accuracy": 0.9, "updates_per_epoch": 3, "ponder_delay": 1}


def config(model: str = "hop_attention", **changes: Any) -> MultihopTrialConfig:
    settings = {**SETTINGS, "oov_rule": "own", **STREAM, **changes}
    known = multihop_setting_types(model)
    own = {name: value for name, value in settings.items() if name in known}
    return build_multihop_trial(model, own, max_epochs=4, patience=0, seed=1)


def training(trial: MultihopTrialConfig) -> MultihopTraining:
    dev = draw_split(20, trial.stream.max_hops, 0, generator("multihop", 1))
    return MultihopTraining(trial, TrialData(dev, dev, word_vectors(6)))


def charged(one: MultihopTraining) -> bool:
    """Whether steps cost something in the epoch to come."""
    one.train_epoch()
    return bool(one.model.halting.charges)


def test_depths_join_when_the_last_is_learned_and_steps_cost_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = training(config())
    right = one.data.dev.labels.clone()
    wrong = (right + 1) % 3

    def scored(labels: torch.Tensor) -> None:
        found = type("Found", (), {"predictions": labels, "labels": right, "figures": FIGURES})
        monkeypatch.setattr("actmodels.multihop.training.evaluate", lambda *_: found)
        one.evaluated()

    first_alone = torch.where(one.data.dev.depths == 1, right, wrong)
    scored(wrong)
    assert (one.joined, one.settled) == (1, 0) and not charged(one)
    scored(first_alone)
    assert (one.joined, one.settled) == (2, 0) and not charged(one)
    scored(first_alone)
    assert (one.joined, one.settled) == (2, 1) and charged(one)


FIGURES = Figures(0.0, 1.0, 1.0, 0.0, 1.0)


def test_pairs_are_fresh_and_of_the_depths_that_have_joined() -> None:
    one = training(config(batch_size=64))
    batches = [*one.batches(generator("epoch", 1)), *one.batches(generator("epoch", 2))]
    assert len({batch.premise.numpy().tobytes() for batch in batches}) == 6
    assert all(batch.premise.shape == (64, 24) for batch in batches)


def test_a_resumed_training_gives_the_same_bits() -> None:
    trial = config(join_accuracy=0.0)  # each epoch lets a depth join
    whole, part = training(trial), training(trial)
    for _ in range(4):
        whole.run_epoch()
    part.run_epoch()
    part.run_epoch()
    stored = io.BytesIO()
    torch.save(part.state_dict(), stored)
    stored.seek(0)
    again = training(trial)
    again.load_state_dict(torch.load(stored, weights_only=True))
    assert (again.joined, again.settled) == (2, 1)
    for _ in range(2):
        again.run_epoch()
    assert [r.result() for r in again.history] == [r.result() for r in whole.history]
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, again.model.state_dict()[name]), name


def test_every_mechanism_starts_without_a_price_but_ponder_net() -> None:
    for name in ("dact", "target_steps", "supervised_act", "ponder_net"):
        one = training(config(f"hop_attention_{name}"))
        assert charged(one) is (name == "ponder_net")
        if name == "target_steps":
            assert float(one.model.ponder_weight or 0.0) == 0.0


def test_a_model_that_needs_parses_is_refused() -> None:
    with pytest.raises(ConfigError, match="spinn_pi: streamed pairs have no parse"):
        config("spinn_pi")
    with pytest.raises(ConfigError, match="max_hops is 0; must be at least 1"):
        replace(config(), stream=replace(config().stream, max_hops=0))
