"""A trial uses the configured number of threads, whatever the environment variables."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.samples import sample_data, sample_trial, save_sample_data
from tests.tune.in_workers import read_notes, watch
from tune.execution import Execution
from tune.grid import with_keys
from tune.sweep import run_trials

ROOT = Path(__file__).parents[2]
COUNTS = ("at::get_num_threads", "omp_get_max_threads", "mkl_get_max_threads")
WORK = 0.6  # seconds
TICK = 0.01  # what the kernel counts a thread's CPU time in


def cpu_by_thread() -> dict[str, float]:
    seconds = {}
    for folder in Path("/proc/self/task").iterdir():
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        seconds[folder.name] = (int(fields[11]) + int(fields[12])) * TICK
    return seconds


def busy_threads() -> int:
    matrix = torch.rand(700, 700, requires_grad=True)
    before, end = cpu_by_thread(), time.thread_time() + WORK
    while time.thread_time() < end:
        torch.tanh(matrix @ matrix).sum().backward()  # type: ignore[no-untyped-call]
    used = {name: cpu - before.get(name, 0.0) for name, cpu in cpu_by_thread().items()}
    return sum(cpu > WORK / 5 for cpu in used.values())


def thread_counts() -> dict[str, int]:
    info = torch.__config__.parallel_info()
    counts = {name: re.search(rf"{name}\(\) : (\d+)", info) for name in COUNTS}
    threads = {name: int(count[1]) for name, count in counts.items() if count}
    return threads | {"busy": busy_threads()}


@pytest.fixture(scope="module")
def misleading() -> Iterator[None]:
    """Environment variables that workers inherit and must ignore."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            patch.setenv(name, "3")
        yield


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.usefixtures("misleading", "one_ray")
@pytest.mark.parametrize(
    "threads", [1, pytest.param(2, marks=pytest.mark.skipif(os.cpu_count() == 1, reason="one CPU"))]
)
def test_threads_of_a_running_trial(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads show that the counts distinguish them."""
    save_sample_data(tmp_path, sample_data())
    state = tmp_path / "state"
    watch(monkeypatch, tmp_path / "notes.jsonl", thread_counts)
    execution = Execution(tmp_path, state, state / "ray", threads, workers=1)
    assert execution.threads == threads
    configs = [sample_trial("adaptive_attention", max_epochs=1, seed=seed) for seed in (1, 2)]
    run_trials("sweep", with_keys(configs, "data", execution), execution)
    notes = read_notes(tmp_path / "notes.jsonl")
    assert len(notes) == 2  # the second trial ran in the worker of the first, in a new thread
    assert all(note[name] == threads for note in notes for name in (*COUNTS, "busy"))


def test_only_the_trainable_trains() -> None:
    """So every training has the configured threads."""
    folders = [ROOT / folder for folder in ("pipeline", "tune", "reports")]
    trains = re.compile(r"\bactmodels\.(fused\.)?training\b|\bactmodels\.trial_types\b")
    files = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in folder.rglob("*.py")
        if trains.search(path.read_text(encoding="utf-8"))
    }
    assert files <= {"tune/trainable.py", "tune/fusion_tuning.py"}
