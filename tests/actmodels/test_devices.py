"""Every model and trial type trains on a device that is not the CPU, alone and fused."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from actmodels.fused import FusedTraining, can_fuse
from actmodels.model_training import AnyTraining
from actmodels.static_updates import StaticTraining
from actmodels.training import Training
from studies.cloze.training import ReaderTraining
from studies.multihop.training import MultihopTraining
from studies.sequences.training import SequenceTraining
from tests.other_device import DEVICE, OtherDevice, Remote
from tests.recorder import Recorder
from tests.samples import VARIANTS, sample_data, sample_trial
from tests.studies.cloze.samples import reader_data, reader_trial
from tests.studies.multihop.samples import multihop_trial, sample_multihop_data
from tests.studies.sequences.samples import ACT, CHARACTERS, DACT, GENERATED, PONDER_NET, TEXT
from tests.studies.sequences.samples import sample_trial as sequence_trial

# pytest resets the filter of actmodels.fused
pytestmark = pytest.mark.filterwarnings("ignore:grad and param do not obey the gradient layout")


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with OtherDevice():
        yield


def test_tensors_of_two_devices_do_not_meet() -> None:
    mine, theirs = torch.ones(2), torch.ones(2, device=DEVICE)
    assert (theirs + torch.tensor(2.0)).device.type == DEVICE
    assert torch.tensor([1], device=DEVICE).device.type == DEVICE
    assert theirs.cpu().equal(mine)
    for mix in (lambda: mine + theirs, lambda: torch.stack([theirs[0], mine[0]])):
        with pytest.raises(AssertionError, match="of the CPU"):
            mix()


def assert_on_device(*trainings: AnyTraining) -> None:
    assert all(isinstance(p, Remote) for one in trainings for p in one.model.parameters())


def assert_trains(make: Callable[[], AnyTraining]) -> None:
    """A training, and one that goes on from its state, stay on the device."""
    first, other = make(), make()
    first.run_epoch()
    other.load_state_dict(first.state_dict())
    other.run_epoch()
    assert_on_device(first, other)


@pytest.mark.parametrize("name", VARIANTS)
def test_pairs(name: str) -> None:
    data = sample_data(train=20)
    assert_trains(lambda: Training(sample_trial(name), data, DEVICE))


@pytest.mark.parametrize("name", [name for name in VARIANTS if can_fuse(name)])
def test_fused_pairs(name: str) -> None:
    data = sample_data(train=20)
    trials = [sample_trial(name, seed=seed, learning_rate=0.01 * seed) for seed in (1, 2)]
    fusion = FusedTraining(trials, data, DEVICE)
    fusion.run_epoch()
    assert_on_device(*fusion.members)


@pytest.mark.parametrize("name", ["adaptive_attention", "decomposable_attention", "spinn_pi"])
def test_recorded_updates_of_fused_pairs_read_and_copy_nothing_from_the_host(name: str) -> None:
    recorder = Recorder()
    trials = [sample_trial(name, seed=seed, learning_rate=0.01 * seed) for seed in (1, 2)]
    fusion = StaticTraining(trials, sample_data(train=60), DEVICE, recorder)
    fusion.run_epoch()
    assert_on_device(*fusion.members)
    assert recorder.recordings


@pytest.mark.parametrize("name", ["hop_attention", "hop_attention_dact"])
def test_multihop_pairs(name: str) -> None:
    data = sample_multihop_data()
    assert_trains(lambda: MultihopTraining(multihop_trial(name), data, DEVICE))


PARITY, *RECURRENT = GENERATED
SEQUENCES = [(task, halting) for task in (*RECURRENT, CHARACTERS) for halting in (None, ACT)]
SEQUENCES += [(PARITY, halting) for halting in (None, ACT, DACT, PONDER_NET)]


@pytest.mark.parametrize(("task", "halting"), SEQUENCES, ids=lambda part: type(part).__name__)
def test_sequences(task: Any, halting: Any) -> None:
    trial = sequence_trial(task=task, halting=halting)
    assert_trains(lambda: SequenceTraining(trial, TEXT, DEVICE))


@pytest.mark.parametrize("strategy", ["query_gating", "adaptive_computation"])
def test_cloze_questions(strategy: str) -> None:
    trial = reader_trial(strategy=strategy)
    assert_trains(lambda: ReaderTraining(trial, reader_data(), DEVICE))
