"""On what and how long a stage trained: artefacts/<stage>/environment.json.

Apart from the stage's results, because no two runs agree on it.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from actmodels.bench.machine import machine
from actmodels.files import write_text
from tune.execution import Execution
from tune.grid import Trial
from tune.provenance import provenance_tags
from tune.store import TrialStore


class Stopwatch:
    """Started before trials are run, so that it knows which of them are still to be trained.

    Args:
        trials: all trials of the stage.
        execution: where finished trials are kept.
    """

    def __init__(self, trials: Sequence[Trial], execution: Execution) -> None:
        store = TrialStore(execution.state / "trials")
        self.trials = len(trials)
        self.reused = sum(store.record_path(trial.key).is_file() for trial in trials)
        self.data_digest = trials[0].origin["data"]
        self.started = time.monotonic()

    def write(self, folder: Path) -> None:
        """Write environment.json.

        Its machine is the driver's, and `wall_seconds` are those of this run of the stage alone:
        a run that takes up an earlier one counts its own part.
        """
        told = {
            "provenance": provenance_tags(),
            "data_digest": self.data_digest,
            "machine": machine(),
            "trials": self.trials,
            "reused": self.reused,
            "wall_seconds": round(time.monotonic() - self.started, 1),
        }
        write_text(folder / "environment.json", json.dumps(told, indent=1) + "\n")
