"""Threads and memory of workers, whose trials are observed from within."""

import functools
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
import pytest
import torch
from ray import cloudpickle

from actmodels.data.pairs import save_stored
from bench.work import PAPER, drawn_data, trial
from tests.samples import sample_data, sample_trial, save_sample_data
from tune.cluster import trainable
from tune.sweep import run_trials
from tune.trials.execution import Execution
from tune.trials.grid import with_keys

COUNTS = ("at::get_num_threads", "omp_get_max_threads", "mkl_get_max_threads")
KEPT = 40  # MB by which a worker may grow over trials 2 to 5; without malloc_trim it was 117 to 134
Observe = Callable[[], dict[str, Any]]


def resident_memory() -> float:
    return float(psutil.Process().memory_info().rss / 2**20)


def watched(config: dict[str, Any], *, observe: Observe, notes: Path, **settings: Any) -> None:
    """Run a fusion, and append a line to the notes at each of its reports, in its thread."""
    before, report = resident_memory(), trainable.report

    def noted(*content: Any, **more: Any) -> None:
        note = {"before": before, "after": resident_memory()} | observe()
        with notes.open("a") as file:
            file.write(json.dumps(note) + "\n")
        report(*content, **more)

    with patch.object(trainable, "report", noted):
        trainable.run_fusion(config, **settings)


def watch(monkeypatch: pytest.MonkeyPatch, notes: Path, observe: Observe = dict) -> None:
    """Watch all fusions; `observe` returns additional notes at each report."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not have this folder
    monkeypatch.setattr(
        "tune.cluster.runner.run_fusion", functools.partial(watched, observe=observe, notes=notes)
    )


def read_notes(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.alone
def test_a_worker_does_not_grow_with_its_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = drawn_data(replace(PAPER, pairs=400, words=15_000))
    for name, part in (("train", data.train), ("dev", data.dev), ("embedding", data.words)):
        save_stored(vars(part), tmp_path / f"{name}.pt")
    watch(monkeypatch, tmp_path / "notes.jsonl")
    state = tmp_path / "state"
    execution = Execution(tmp_path, state, state / "ray", max_concurrent=1)
    configs = [trial(PAPER.width, 32, seed=seed) for seed in range(1, 6)]
    run_trials("sweep", with_keys(configs, "data", execution), execution)
    notes = read_notes(tmp_path / "notes.jsonl")
    before, after = ([note[name] for note in notes] for name in ("before", "after"))
    assert len(before) == 5
    assert min(before[3:]) - before[1] < KEPT  # growth stays; a single measurement can be a peak
    assert all(small < large for small, large in zip(before, after, strict=True))


def thread_counts() -> dict[str, int]:
    info = torch.__config__.parallel_info()
    counts = {name: re.search(rf"{name}\(\) : (\d+)", info) for name in COUNTS}
    return {name: int(count[1]) for name, count in counts.items() if count}


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
    execution = Execution(tmp_path, state, state / "ray", threads, max_concurrent=1)
    assert execution.threads == threads
    configs = [sample_trial("adaptive_attention", max_epochs=1, seed=seed) for seed in (1, 2)]
    run_trials("sweep", with_keys(configs, "data", execution), execution)
    notes = read_notes(tmp_path / "notes.jsonl")
    assert len(notes) == 2  # the second trial ran in the worker of the first, in a new thread
    assert all(note[name] == threads for note in notes for name in COUNTS)


@pytest.mark.slow
def test_the_dashboard_shows_each_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Cluster page lists titles of processes, its other pages what Ray's state API returns."""

    def shown() -> dict[str, Any]:
        import ray
        from ray.util.state import exception, list_actors, list_jobs

        head, pid = ray.get_runtime_context().gcs_address, os.getpid()
        for attempt in range(60):  # the dashboard starts later than the first worker
            try:
                (job,) = list_jobs(head, detail=True)
                break
            except exception.ServerUnavailable:
                time.sleep(attempt / 10)
        (actor,) = [actor for actor in list_actors(head, detail=True) if actor.pid == pid]
        title = psutil.Process().cmdline()[0]
        return {"title": title, "job": job.metadata["job_name"], "actor": actor.repr_name}

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    save_sample_data(tmp_path, sample_data())
    state = tmp_path / "state"
    watch(monkeypatch, tmp_path / "notes.jsonl", shown)
    execution = Execution(tmp_path, state, state / "ray", max_concurrent=1, dashboard=True)
    configs = [sample_trial("adaptive_attention", max_epochs=2, seed=seed) for seed in (1, 2)]
    trials = with_keys(configs, "data", execution)
    run_trials("sweep", trials, execution)
    titles = [
        f"ray::{trial.name} epoch {epoch}/2 seed={trial.config.seed}"
        for trial in trials
        for epoch in (1, 2)
    ]
    notes = read_notes(tmp_path / "notes.jsonl")
    assert [note["title"] for note in notes] == titles
    assert {(note["job"], note["actor"]) for note in notes} == {("sweep", "worker of sweep")}
