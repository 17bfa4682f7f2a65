"""Machine and wall-clock time of a training stage: artifacts/<stage>/environment.json.

A file of its own, as it differs between runs, unlike the results.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from actmodels.files import CorruptError
from actmodels.records import TrialRecord
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts
from tune.execution import Execution
from tune.grid import Trial, grid_hash
from tune.provenance import machine, provenance_tags
from tune.storage import Storage, storage
from tune.store import TrialStore


def _file(stage: str, trials: Sequence[Trial], execution: Execution) -> tuple[Storage, str]:
    return storage(execution.state / "stopwatch"), f"{stage}-{grid_hash(trials)}.json"


@contextmanager
def timed(stage: str, trials: Sequence[Trial], execution: Execution) -> Iterator[None]:
    """Add the block's time to the time of earlier runs of the same trials, also if it raises.

    The time of a killed process is lost.
    """
    store, ended = TrialStore(execution.trials), False

    def finished() -> int:
        return sum(store.holds(trial.key) for trial in trials)

    started, before = time.monotonic(), finished()
    try:
        yield
        ended = True
    finally:
        trained = finished() - before
        if trained or not ended:
            total = total_time(stage, trials, execution)
            total["trained"] += trained
            total["wall_seconds"] += time.monotonic() - started
            folder, name = _file(stage, trials, execution)
            folder.make()
            folder.write_checked(name, json.dumps(total).encode())


def total_time(stage: str, trials: Sequence[Trial], execution: Execution) -> dict[str, Any]:
    """Return trained trials and seconds of all runs; zeros if the file is corrupt or missing."""
    folder, name = _file(stage, trials, execution)
    try:
        return dict(json.loads(folder.read_checked(name)))
    except FileNotFoundError:
        pass
    except CorruptError as error:
        moved = folder.quarantine(name)
        message = f"{error}; quarantined as {moved}, the time of earlier runs is not counted"
        print(message, file=sys.stderr, flush=True)
    return {"trained": 0, "wall_seconds": 0.0}


def write_environment(
    stage: str, trials: Sequence[Trial], execution: Execution, records: Sequence[TrialRecord]
) -> None:
    """Write environment.json: the driver's machine, and the machine of each trial."""
    total = total_time(stage, trials, execution)
    environment = {
        "provenance": provenance_tags(),
        "data_digest": trials[0].origin["data"],
        "machine": machine(),
        "trials": len(records),
        "reused": len(records) - total["trained"],
        "wall_seconds": round(total["wall_seconds"], 1),
        "trained_on": {record.key: record.machine for record in records},
    }
    write_json(artifacts(stage, "environment.json"), environment, indent=1)
