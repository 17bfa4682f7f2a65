"""Train the trials of a stage; write its machine and wall-clock time.

artifacts/<stage>/environment.json is a file of its own, as it differs between runs, unlike the
results.
"""

import json
import sys
import time
from contextlib import suppress
from typing import Any

from actmodels.records import TrialRecord
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts
from tune.sweep import run_trials
from tune.trials.execution import Execution
from tune.trials.grid import Trial, grid_hash
from tune.trials.proposed_trials import ProposedTrials
from tune.trials.provenance import machine, provenance_tags
from tune.trials.storage import Storage, storage
from tune.trials.store import TrialStore


def train_trials(
    stage: str, trials: list[Trial], execution: Execution, **options: Any
) -> list[TrialRecord]:
    """Return the records of trials; write environment.json.

    It has the machine of the last driver that trained, that of each trial, and the time of all
    runs of the same trials, also of runs that failed. The time of a killed process is lost.

    Args:
        options: of run_trials.
    """
    folder, name = storage(execution.state / "stopwatch"), f"{stage}-{grid_hash(trials)}.json"
    store = TrialStore(execution.trials)

    def finished() -> int:
        proposed = ProposedTrials(trials, store.storage, lambda _: None)
        return sum(map(store.holds, proposed.keys))

    started, before, records = time.monotonic(), finished(), None
    try:
        records = run_trials(stage, trials, execution, **options)
    finally:
        total, trained = _total_time(folder, name), finished() - before
        if trained or records is None:
            total |= {"machine": machine()} if trained else {}
            total["trained"] += trained
            total["wall_seconds"] += time.monotonic() - started
            folder.make()
            folder.write_checked(name, json.dumps(total).encode())
    environment = {
        "provenance": provenance_tags(),
        "data_digest": trials[0].origin["data"],
        "machine": total.get("machine") or machine(),
        "trials": len(records),
        "reused": max(0, len(records) - total["trained"]),  # some may have been trained twice
        "wall_seconds": round(total["wall_seconds"], 1),
        "trained_on": {record.key: record.machine for record in records},
    }
    if about := str(execution.about):
        environment["about"] = about
    write_json(artifacts(stage, "environment.json"), environment, indent=1)
    return records


def _total_time(folder: Storage, name: str) -> dict[str, Any]:
    """Return trained trials, seconds and the last machine of all runs.

    Zeros, and no machine, if the file is corrupt or missing.
    """
    notes = list[str]()
    corrupt = folder.quarantining(name, notes, "the time of earlier runs is not counted")
    with suppress(FileNotFoundError), corrupt:
        return dict(json.loads(folder.read_checked(name)))
    if notes:
        print(*notes, file=sys.stderr, flush=True)
    return {"trained": 0, "wall_seconds": 0.0}
