"""A trial has the threads that it was given, wherever it runs and whatever the environment says."""

import functools
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from ray import cloudpickle

from tests.samples import sample_data, sample_trial, save_sample_data
from tune.execution import Execution
from tune.grid import with_keys
from tune.stand_ins import NotedTrials
from tune.sweep import run_trials

ROOT = Path(__file__).parents[2]
COUNTS = ("at::get_num_threads", "omp_get_max_threads", "mkl_get_max_threads")
WORK = 0.6  # seconds
TICK = 0.01  # what the kernel counts a thread's CPU time in


def cpu_by_thread() -> dict[str, float]:
    """Seconds of CPU that each thread of this process has had."""
    seconds = {}
    for folder in Path("/proc/self/task").iterdir():
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        seconds[folder.name] = (int(fields[11]) + int(fields[12])) * TICK
    return seconds


def busy_threads() -> int:
    """How many threads large operations of BLAS, of torch itself and backwards are shared among."""
    matrix = torch.rand(700, 700, requires_grad=True)
    before, end = cpu_by_thread(), time.thread_time() + WORK
    while time.thread_time() < end:
        torch.tanh(matrix @ matrix).sum().backward()  # type: ignore[no-untyped-call]
    used = {name: cpu - before.get(name, 0.0) for name, cpu in cpu_by_thread().items()}
    return sum(cpu > WORK / 5 for cpu in used.values())


class Watched(NotedTrials):
    """Trials that say how many threads they have, by every count there is."""

    def run_epoch(self) -> Sequence[Any]:
        trained = super().run_epoch()
        info = torch.__config__.parallel_info()
        counts = {name: re.search(rf"{name}\(\) : (\d+)", info) for name in COUNTS}
        seen = {name: int(found[1]) for name, found in counts.items() if found}
        with (self.notes.parent / "threads.jsonl").open("a") as file:
            file.write(json.dumps(seen | {"busy": busy_threads()}) + "\n")
        return trained


@pytest.fixture(scope="module")
def misleading() -> Iterator[None]:
    """Variables that workers inherit and must not obey."""
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
def test_threads_of_a_running_trial(threads: int, tmp_path: Path) -> None:
    """Two show that the counts can tell."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not see this folder
    save_sample_data(tmp_path, sample_data())
    state = tmp_path / "state"
    watched = functools.partial(Watched, notes=tmp_path / "notes.jsonl")
    execution = Execution(
        tmp_path, state, state / "ray", threads, 0, 1, False, workers=1, start=watched
    )
    assert execution.threads == threads
    configs = [sample_trial("adaptive_attention", max_epochs=1, seed=seed) for seed in (1, 2)]
    run_trials(
        "sweep",
        with_keys(configs, data_digest="data", device="cpu", threads=threads),
        execution,
    )
    lines = (tmp_path / "threads.jsonl").read_text().splitlines()
    assert len(lines) == 2  # the second trial ran in the worker of the first, in a new thread
    for line in lines:
        assert json.loads(line) == dict.fromkeys((*COUNTS, "busy"), threads)


def test_only_what_a_worker_runs_trains() -> None:
    """So every stage that trains has its threads set there: there is no other way to train."""
    folders = [ROOT / folder for folder in ("pipeline", "tune", "reports")]
    trains = re.compile(r"\bactmodels\.(packed\.)?training\b")
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in folder.rglob("*.py")
        if trains.search(path.read_text(encoding="utf-8"))
    }
    assert found <= {
        "tune/trainable.py",
        "tune/pack_size.py",
        "tune/stand_ins.py",
        "tune/on_ray.py",
    }
