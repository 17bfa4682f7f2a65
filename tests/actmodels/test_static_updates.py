"""Updates of fixed operations have the results of those that follow the data."""

from typing import Any

import pytest
import torch

from actmodels.fused import FusedTraining
from actmodels.static_updates import StaticTraining, filled, rounded_up, static_shapes
from tests.actmodels.test_fused_training import FUSION, data, difference, trials
from tests.actmodels.test_fused_training import in_double as in_double
from tests.model_checks import same
from tests.recorder import Recorder, signature
from tests.samples import sample_trial

FAST = ("decomposable_attention", "adaptive_attention", "hop_attention_dact", "spinn_pi")
pytestmark = pytest.mark.filterwarnings("ignore:grad and param do not obey the gradient layout")


def distance(one: FusedTraining, other: FusedTraining) -> float:
    """Return the maximum difference of histories and parameters."""
    pairs = list(zip(one.members, other.members, strict=True))
    parameters = [
        float((p - q).detach().abs().max())
        for a, b in pairs
        for p, q in zip(a.model.parameters(), b.model.parameters(), strict=True)
    ]
    return max([difference(a, b) for a, b in pairs] + parameters)


def equal(one: FusedTraining, other: FusedTraining) -> bool:
    """Return whether all states are equal to the bit."""
    return all(
        same(a.model.state_dict(), b.model.state_dict())
        for a, b in zip(one.members, other.members, strict=True)
    )


@pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in FUSION]
)
def test_recorded_updates_have_the_results_of_those_that_follow_the_data(
    name: str, in_double: None
) -> None:
    """Every model that can be fused, two epochs of twenty updates, the last batch smaller."""
    source, configs, recorder = data(79), trials(name), Recorder()
    one, other = FusedTraining(configs, source), StaticTraining(configs, source, record=recorder)
    for _ in range(2):
        one.run_epoch()
        other.run_epoch()
    assert distance(one, other) < 1e-10
    assert recorder.repeats > 20


@pytest.mark.parametrize("name", ["adaptive_attention", "decomposable_attention", "hop_attention"])
def test_what_is_recorded_does_not_depend_on_data_keys_or_steps(name: str, in_double: None) -> None:
    """Two recordings of one kind of update are the same operations on the same memory."""
    training = StaticTraining(trials(name), data(60))
    training.run_epoch()
    updates = training.updates
    assert updates is not None
    kind = updates.seen.most_common(1)[0][0]
    taken = []
    for number in (0, 1):
        updates.rows.copy_(torch.arange(8).expand(4, -1) + 7 * number)
        updates.key.fill_(number + 5)
        recorder = Recorder()
        updates.record, updates.seen[kind] = recorder, 100
        updates.recorded = {}
        updates.fusion.train()
        with static_shapes(updates.fusion):
            updates.second_half(kind, updates.first_half(kind))
        taken.append(signature(recorder.recordings))
        assert len(recorder.recordings) == 2
    assert taken[0] == taken[1]


def test_a_number_of_steps_that_is_too_small_costs_a_repetition_alone(
    in_double: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From two steps or from as many as are allowed: the same results."""
    source, configs = data(60), trials("adaptive_attention")
    found = []
    for first in (2, 20):
        monkeypatch.setattr("actmodels.static_updates.FIRST_STEPS", first)
        found.append(StaticTraining(configs, source, record=Recorder()))
        found[-1].run_epoch()
    assert distance(*found) < 1e-12
    kinds = [{kind.steps for kind in one.updates.seen} for one in found if one.updates]
    assert min(kinds[0]) == 2 < max(kinds[0]) <= min(kinds[1])


@pytest.mark.parametrize("name", ["adaptive_attention", "adaptive_attention_target_steps"])
def test_resumed_equals_uninterrupted_to_the_bit(name: str) -> None:
    source, configs = data(60, double=False), trials(name, optimizer="adam")
    straight = StaticTraining(configs, source, record=Recorder())
    for _ in range(3):
        straight.run_epoch()
    first = StaticTraining(configs, source, record=Recorder())
    first.run_epoch()
    later = StaticTraining(configs, source, record=Recorder())
    for member, before in zip(later.members, first.members, strict=True):
        member.load_state_dict(before.state_dict())
    for _ in range(2):
        later.run_epoch()
    assert equal(straight, later)


@pytest.mark.parametrize("name", ["adaptive_attention", "spinn_pi"])
def test_own_seeds_and_trials_that_leave(name: str, in_double: None) -> None:
    """Trials of other seeds have other batches; updates are recorded again when one has ended."""
    source = data(41)
    settings: list[dict[str, Any]] = [
        {"seed": s, "max_epochs": 1 + s, "dropout": 0.2} for s in (1, 2)
    ]
    configs = [sample_trial(name, **one) for one in settings]
    one, other = (make(configs, source) for make in (FusedTraining, StaticTraining))
    while not one.finished:
        one.run_epoch()
        other.run_epoch()
    assert other.finished
    assert distance(one, other) < 1e-10


def test_one_trial_is_a_fusion_of_one(in_double: None) -> None:
    source, configs = data(60), trials("adaptive_attention")[:1]
    one, other = FusedTraining(configs, source), StaticTraining(configs, source, record=Recorder())
    one.run_epoch()
    other.run_epoch()
    assert distance(one, other) < 1e-12


def test_lengths_and_rows() -> None:
    assert [rounded_up(n, 4) for n in (1, 4, 5, 12, 13, 17, 33, 82, 500)] == [
        *(4, 4, 8, 12, 16, 24, 48, 96, 512)
    ]
    assert [rounded_up(n, 2) for n in (1, 2, 3, 5, 7, 9, 20)] == [2, 2, 4, 6, 8, 12, 24]
    assert filled(torch.tensor([3, 5]), 4).tolist() == [3, 5, -6, -6]
