"""What Ray and MLflow cost: measured, not assumed, and nothing stays behind."""

import os
from pathlib import Path

import pytest

from tune.apart import apart
from tune.benchmark import Measured, memory_per_trial, no_op_trials, overhead, scaling
from tune.stand_ins import Note

KEPT = 40  # MB by which a worker may grow over three trials; without malloc_trim it was 100 to 180


def note(pid: int, begin: float, end: float) -> Note:
    return Note(pid, begin, end, 1.0, 1.0, 100.0, 110.0, 1)


def test_parts_add_up_and_workers_keep_their_notes() -> None:
    notes = [note(1, 10, 12), note(2, 11, 14), note(1, 13, 15)]
    measured = Measured(8, 10, 0.5, records=[], tracked=3, notes=notes)
    assert measured.parts == {"start_seconds": 2, "run_seconds": 5, "finish_seconds": 3}
    assert measured.workers == [[notes[0], notes[2]], [notes[1]]]


def test_the_users_servers_are_left_out_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "192.0.2.1:6379")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://192.0.2.1")
    before = dict(os.environ)
    with pytest.raises(KeyboardInterrupt), apart(tmp_path / "new") as folder:
        assert folder.is_dir()
        assert not {"RAY_ADDRESS", "MLFLOW_TRACKING_URI"} & set(os.environ)
        rays = Path(os.environ["RAY_TMPDIR"])
        raise KeyboardInterrupt
    assert not rays.exists()
    assert list((tmp_path / "new").iterdir()) == []
    kept = {name: value for name, value in os.environ.items() if name in before}
    assert kept == before


@pytest.mark.slow
def test_trials_that_do_nothing_are_all_tracked_and_cheap(tmp_path: Path) -> None:
    found = no_op_trials(40, tmp_path)
    assert (found["trials"], found["tracked"]) == (40, 40)
    # 486 within three minutes, start and end apart; 0.04 to 0.1 s on two busy cores.
    assert found["seconds_per_trial"] < 150 / 486
    parts = found["start_seconds"] + found["run_seconds"] + found["finish_seconds"]
    assert parts == pytest.approx(found["seconds"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.alone
def test_a_sweep_adds_little_to_its_trials(tmp_path: Path) -> None:
    """An eighth of the length, so about eight times the share of trials of 8 s."""
    found = overhead(tmp_path, seconds_per_trial=1.0, trials=8, epochs=2)
    assert found["trial_cpu_seconds"] == pytest.approx(8.0, rel=0.05)
    assert 0 < found["between"] < 8 * 0.05
    assert found["overhead"] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_worker_does_not_grow_with_its_trials(tmp_path: Path) -> None:
    found = memory_per_trial(tmp_path, trials=5, pairs=400)
    before, after = found["before"], found["after"]
    assert max(before[2:]) - before[1] < KEPT
    assert all(small < large for small, large in zip(before, after, strict=True))


@pytest.mark.slow
def test_throughput_is_told_for_each_number_of_workers(tmp_path: Path) -> None:
    found = scaling([1, 2], tmp_path, trials_per_worker=3, pairs=200)
    assert list(found) == [1, 2]
    for figures in found.values():
        assert figures["trials_per_second"] > 0
        assert figures["examples_per_second"] > 200 * figures["trials_per_second"]
