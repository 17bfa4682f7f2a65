"""Fused trials have the results of single trials."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from actmodels.data.trial_data import TrialData
from actmodels.fused import FusedTraining, can_fuse, fuse, fusion_shape
from actmodels.training import Training
from actmodels.trial_config import TrialConfig, setting_types
from tests.model_checks import same
from tests.samples import VARIANTS, sample_data, sample_trial

FUSION = [name for name in VARIANTS if can_fuse(name)]
UNLIKE: list[dict[str, Any]] = [
    {"epsilon": 0.01, "ponder_weight": 0.01, "dropout": 0.1, "final_rate": 0.1},
    {"learning_rate": 0.05, "epsilon": 0.2, "ponder_weight": 0.001, "dropout": 0.3},
    {"learning_rate": 0.001, "epsilon": 0.05, "ponder_weight": 0.02, "dropout": 0.0},
    {"learning_rate": 0.01, "epsilon": 0.1, "ponder_weight": 0.0, "dropout": 0.2},
]
LIMITS = (0.0, 0.001, 0.003, 0.01)  # of gradient entries


@pytest.fixture
def in_double() -> Iterator[None]:
    """Double precision, where fused and single trials differ by rounding alone."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def trials(name: str, unlike: list[dict[str, Any]] = UNLIKE, **settings: Any) -> list[TrialConfig]:
    """Build trials of one shape, without the settings that the model lacks."""
    settings = {"optimizer": "adagrad", **settings}
    known = {*setting_types(name), "seed"}
    own = [{k: v for k, v in one.items() if k in known} for one in unlike]
    return [sample_trial(name, **{**settings, **one}) for one in own]


def data(count: int = 100, *, double: bool = True) -> TrialData:
    sample = sample_data(train=count)
    vectors = sample.words.vectors.double() if double else sample.words.vectors
    return replace(sample, words=replace(sample.words, vectors=vectors))


def alone(config: TrialConfig, source: TrialData, epochs: int) -> Training:
    training = Training(config, source)
    for _ in range(epochs):
        training.run_epoch()
    return training


def difference(one: Any, other: Any) -> float:
    """Return the maximum difference between two histories, relative where values exceed 1."""
    worst = 0.0
    for mine, theirs in zip(one.history, other.history, strict=True):
        for name, value in mine.result().items():
            if value is None:
                assert theirs.result()[name] is None
            else:
                worst = max(worst, abs(value - theirs.result()[name]) / max(1.0, abs(value)))
    return worst


def train_and_compare(
    configs: list[TrialConfig], source: TrialData, epochs: int, within: float = 1e-12
) -> set[float]:
    """Compare a fusion with its trials alone; return the different losses of the first epoch."""
    fusion = FusedTraining(configs, source)
    for _ in range(epochs):
        fusion.run_epoch()
    for member in fusion.members:
        assert difference(alone(member.config, source, epochs), member) < within
    return {round(member.history[0].train_loss, 6) for member in fusion.members}


@pytest.mark.parametrize("name", FUSION)
@pytest.mark.parametrize("updates", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_updates_in_double_precision(name: str, updates: int, in_double: None) -> None:
    """k = 4, Adagrad from 0.1, dropout: losses, accuracies, step counts within 1e-12."""
    train_and_compare(trials(name), data(4 * updates), 2)


def test_adam_and_trained_words(in_double: None) -> None:
    configs = trials("adaptive_attention", optimizer="adam", oov_rule="trained", init_std=0.05)
    slow = [config for config in configs if config.training.learning_rate < 0.05]
    train_and_compare(slow, data(), 2, within=1e-11)


@pytest.mark.parametrize("setting", ["clip_norm", "l2", "embedding_l2"])
def test_each_trial_has_its_own_clipping_and_penalties(setting: str, in_double: None) -> None:
    unlike = [one | {setting: n} for one, n in zip(UNLIKE, (0.0, 0.01, 0.05, 0.2), strict=True)]
    configs = trials("adaptive_attention", unlike, optimizer="adam", oov_rule="trained")
    assert len(train_and_compare(configs, data(), 1, within=1e-11)) == 4


@pytest.mark.parametrize("name", ["adaptive_attention", "hop_attention", "spinn_pi"])
def test_trials_of_different_seeds_are_each_as_alone(name: str, in_double: None) -> None:
    """Each has its own order of batches, initialization and dropout, and its own small batch."""
    configs = trials(name, [{"seed": s, "dropout": 0.3} for s in (1, 2, 3)])
    assert len(train_and_compare(configs, data(101), 1)) == 3


def test_finished_trials_leave_and_the_others_continue(in_double: None) -> None:
    source = data(40)
    lengths = (1, 4, 2)
    configs = [
        sample_trial("adaptive_attention", max_epochs=epochs, learning_rate=0.001 * epochs)
        for epochs in lengths
    ]
    fusion, sizes = FusedTraining(configs, source), []
    while not fusion.finished:
        sizes.append(len(fusion.run_epoch()))
    assert sizes == [3, 2, 1, 1]
    for config, member, epochs in zip(configs, fusion.members, lengths, strict=True):
        assert len(member.history) == epochs
        assert difference(alone(config, source, epochs), member) < 1e-12


def test_a_trial_continues_in_another_fusion_or_alone(in_double: None) -> None:
    """Checkpoints are those of Training in both directions, also at different epochs."""
    source, configs = data(60), trials("adaptive_attention", optimizer="adam")[:3]
    fusion = FusedTraining(configs, source)
    fusion.run_epoch()
    states = [member.state_dict() for member in fusion.members]
    single = Training(configs[0], source)
    single.load_state_dict(states[0])
    single.run_epoch()
    other = FusedTraining([configs[2], configs[0]], source)  # at different epochs
    other.members[0].load_state_dict(states[2])
    other.members[1].load_state_dict(single.state_dict())
    other.run_epoch()
    assert difference(alone(configs[0], source, 3), other.members[1]) < 1e-10
    assert difference(alone(configs[2], source, 2), other.members[0]) < 1e-10


def test_a_diverged_trial_ends_on_its_last_good_parameters_and_the_others_continue(
    in_double: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The objective of one trial is not a number in the second update."""
    source, configs = data(60), trials("adaptive_attention", UNLIKE[:2])
    fusion, calls = FusedTraining(configs, source), iter(range(100))

    def breaking(members: Any) -> Any:
        fused, optimizer = fuse(members)
        objective = fused.objective

        def broken(*arguments: Any) -> torch.Tensor:
            lost = next(calls) == 1
            if lost:  # all later predictions are nan as well
                fused.classify.weight.data[1] = math.nan
            return objective(*arguments) * torch.tensor([1.0, math.nan if lost else 1.0])

        fused.objective = broken
        return fused, optimizer

    untrained = Training(configs[1], source)
    with monkeypatch.context() as patched:
        patched.setattr("actmodels.fused.fuse", breaking)
        fusion.run_epoch()
    assert [member.diverged for member in fusion.members] == [False, True]
    assert fusion.members[1].finished and not fusion.members[0].finished
    assert same(fusion.members[1].model.state_dict(), untrained.model.state_dict())
    (record,) = fusion.members[1].history
    assert record.dev_loss == pytest.approx(untrained.dev_metrics().loss, rel=1e-9)
    assert math.isfinite(record.train_loss)
    fusion.run_epoch()
    assert len(fusion.members[1].history) == 1
    assert difference(alone(configs[0], source, 2), fusion.members[0]) < 1e-12


def test_a_fusion_whose_trials_all_diverge_ends() -> None:
    fusion = FusedTraining(trials("decomposable_attention"), data(60, double=False))
    with torch.no_grad():
        for member in fusion.members:
            member.model.classify.weight.fill_(float("nan"))
    fusion.run_epoch()
    assert fusion.finished and all(member.diverged for member in fusion.members)


def test_shapes() -> None:
    one, other = trials("adaptive_attention")[:2]
    assert fusion_shape(one) == fusion_shape(other)
    wide = sample_trial("adaptive_attention", width=16)
    assert fusion_shape(one) != fusion_shape(wide)
    with pytest.raises(ValueError, match="same shape"):
        FusedTraining([one, wide], data(40, double=False))
