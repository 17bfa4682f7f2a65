"""What Ray and MLflow cost per trial, measured on the very code that runs a sweep.

Each measurement is a small sweep of its own in a temporary folder: drawn data, a local Ray, an
sqlite store. Neither params.yaml nor `state/` nor servers of the user's have a part in it.
"""

import functools
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from actmodels.bench.workload import Sizes, drawn_data, trial
from actmodels.data.stored import save_stored
from actmodels.records import TrialRecord
from tune.apart import apart
from tune.execution import Execution
from tune.grid import with_keys
from tune.mlflow_store import RunStore
from tune.stand_ins import IdleTrials, Note, NotedTrials, read_notes
from tune.sweep import run_trials

DEMO = Sizes(64, 4000, 300, 64, 64, 64)  # the embedded corpus and its models, but for the pairs
DONE = "tags.kind = 'trial' AND attributes.status = 'FINISHED'"


@dataclass(frozen=True)
class Measured:
    """A sweep that has ended.

    began: seconds since 1970. seconds, driver_cpu: of the clock, and of this process's CPU.
    tracked: trials that MLflow has as finished.
    """

    began: float
    seconds: float
    driver_cpu: float
    records: list[TrialRecord]
    tracked: int
    notes: list[Note]

    @property
    def workers(self) -> list[list[Note]]:
        """The notes of each worker, the earliest first."""
        found: dict[int, list[Note]] = {}
        for note in self.notes:
            found.setdefault(note.pid, []).append(note)
        return list(found.values())

    @property
    def parts(self) -> dict[str, float]:
        """Seconds until the first trial began, then until the last one ended, then to the end."""
        first, last = min(n.begin for n in self.notes), max(n.end for n in self.notes)
        ended = self.began + self.seconds
        return {
            "start_seconds": first - self.began,
            "run_seconds": last - first,
            "finish_seconds": ended - last,
        }


def measure(
    trials: int,
    workspace: Path,
    *,
    start: Any = NotedTrials,
    sizes: Sizes = DEMO,
    epochs: int = 1,
    workers: int | None = None,
) -> Measured:
    """Run a sweep of trials that differ in their seed alone.

    Args:
        start: what takes the place of `tune.trainable.start`; it is told where to leave `notes`.
        workers: trials at a time; None for as many as there are CPUs.
    """
    with apart(workspace) as folder:
        data = drawn_data(sizes)
        for name, content in (("train", data.train), ("dev", data.dev), ("embedding", data.words)):
            save_stored(vars(content), folder / f"{name}.pt")
        told = functools.partial(start, notes=folder / "notes.jsonl")
        state = folder / "state"
        execution = Execution(
            folder, state, state / "ray", 1, 0, 0, False, workers=workers, start=told
        )
        config = replace(trial(sizes, batch_size=32), max_epochs=epochs)
        configs = [replace(config, seed=seed) for seed in range(1, trials + 1)]
        began, cpu = time.time(), time.process_time()
        records = run_trials(
            "benchmark",
            with_keys(configs, data_digest="drawn", device="cpu", threads=1),
            execution,
        )
        seconds, driver_cpu = time.time() - began, time.process_time() - cpu
        store = RunStore(state)
        tracked = len(store.search(DONE))
        store.release()
        notes = read_notes(folder / "notes.jsonl")
        return Measured(began, seconds, driver_cpu, records, tracked, notes)


def no_op_trials(count: int, workspace: Path) -> dict[str, float]:
    """Schedule, run, track and prove complete trials that train nothing.

    Returns:
        the number of `trials` and of those `tracked` as finished by MLflow; `seconds` from the
        call to the proof, their parts start_, run_ and finish_seconds, and run_seconds per
        trial; CPU seconds of the driver.
    """
    found = measure(count, workspace, start=IdleTrials)
    return {
        "trials": len(found.records),
        "tracked": found.tracked,
        "seconds": found.seconds,
        **found.parts,
        "seconds_per_trial": found.parts["run_seconds"] / count,
        "driver_cpu_seconds": found.driver_cpu,
    }


def overhead(
    workspace: Path,
    seconds_per_trial: float = 8.0,
    trials: int = 8,
    *,
    epochs: int = 6,
    workers: int | None = None,
) -> dict[str, float]:
    """What a sweep adds to trials whose length is known.

    Each trial takes `seconds_per_trial` of CPU time, in `epochs` epochs. What counts is the
    steady state: from the end of a worker's first trial, which still loads code and data, to the
    end of its last one.

    Args:
        trials: of all workers together. workers: by default as many as there are CPUs, and so
            few that each has two trials.

    Returns:
        `between`: the time in which no epoch ran, as a share of the time in which one ran;
        `overhead`: all time beyond the known one, as a share of it. The latter also counts what
        others took from the trials: driver and Ray, and whatever else runs on the machine.
    """
    workers = workers or min(os.cpu_count() or 1, trials // 2)
    start = functools.partial(NotedTrials, seconds=seconds_per_trial / epochs)
    found = measure(trials, workspace, start=start, epochs=epochs, workers=workers)
    steady = [notes for notes in found.workers if len(notes) > 1]
    span = sum(notes[-1].end - notes[0].end for notes in steady)
    trained = sum(note.training for notes in steady for note in notes[1:])
    busy = sum(note.busy for notes in steady for note in notes[1:])
    return {
        "trials": trials,
        "workers": len(found.workers),
        "between": span / trained - 1,
        "overhead": span / busy - 1,
        "seconds": found.seconds,
        **found.parts,
        "trial_cpu_seconds": sum(note.busy for note in found.notes),
        "driver_cpu_seconds": found.driver_cpu,
    }


def scaling(
    workers: Sequence[int], workspace: Path, *, trials_per_worker: int = 4, pairs: int = 2000
) -> dict[int, dict[str, float]]:
    """Throughput of short real trials by the number of workers.

    Returns:
        by number of workers: `trials_per_second`, first trials left out, and
        `examples_per_second` of training, both summed over the workers.
    """
    found = {}
    for number in workers:
        sizes = replace(DEMO, pairs=pairs)
        measured = measure(number * trials_per_worker, workspace, sizes=sizes, workers=number)
        spans = [(len(notes) - 1, notes[-1].end - notes[0].end) for notes in measured.workers]
        rates = [epoch.examples_per_second or 0 for r in measured.records for epoch in r.history]
        found[number] = {
            "trials_per_second": sum(count / span for count, span in spans if count),
            "examples_per_second": number * fmean(rates),
        }
    return found


def memory_per_trial(
    workspace: Path, trials: int = 8, *, pairs: int = 1600
) -> dict[str, list[float]]:
    """Memory of one worker that runs real trials of the paper's width, in MB.

    Returns:
        `before` and `after`: in RAM at the beginning and at the end of each trial.
    """
    sizes = Sizes(pairs, 15_000, 300, 200, 200, 200)
    notes = measure(trials, workspace, sizes=sizes, workers=1).notes
    return {
        "before": [note.memory_before for note in notes],
        "after": [note.memory_after for note in notes],
    }
