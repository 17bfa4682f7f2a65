"""On what and how long a stage trained: artefacts/<stage>/environment.json.

Apart from the stage's results, because no two runs agree on it.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from actmodels.files import DamagedError
from actmodels.records import TrialRecord
from pipeline.running.results import write_json
from tune.execution import Execution
from tune.grid import Trial, grid_hash
from tune.provenance import machine, provenance_tags
from tune.storage import storage
from tune.store import TrialStore


class Stopwatch:
    """Runs while trials are trained, over as many runs of the stage as that takes.

    What earlier runs of the same trials took is kept in the state folder and added; a run that
    was killed outright, and not interrupted, is not in it.

    Args:
        kind: "sweep" or "retrain".
        trials: all trials of the stage.
        execution: where finished trials are kept.
    """

    def __init__(self, kind: str, trials: Sequence[Trial], execution: Execution) -> None:
        self.trials, self.store = trials, TrialStore(execution.trials)
        self.place = storage(execution.state / "stopwatch")
        self.name = f"{kind}-{grid_hash(list(trials))}.json"

    def __enter__(self) -> "Stopwatch":
        """Start."""
        self.started, self.finished = time.monotonic(), self._finished()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop, however it ended, and add this run to those before it if it trained anything."""
        trained = self._finished() - self.finished
        if not trained and error is None:
            return
        before = self._before()
        kept = {
            "trained": before["trained"] + trained,
            "wall_seconds": before["wall_seconds"] + time.monotonic() - self.started,
        }
        self.place.make()
        self.place.write_sealed(self.name, json.dumps(kept).encode())

    def write(self, folder: Path, records: Sequence[TrialRecord]) -> None:
        """Write environment.json; its machine is the driver's, nodes are those of each trial."""
        total = self._before()
        told = {
            "provenance": provenance_tags(),
            "data_digest": self.trials[0].origin["data"],
            "machine": machine(),
            "trials": len(self.trials),
            "reused": len(self.trials) - total["trained"],
            "wall_seconds": round(total["wall_seconds"], 1),
            "trained_on": {record.key: record.machine for record in records},
        }
        write_json(folder / "environment.json", told, indent=1)

    def _finished(self) -> int:
        return sum(self.store.holds(trial.key) for trial in self.trials)

    def _before(self) -> dict[str, Any]:
        """What earlier runs took; nothing if there was none, or its file was damaged."""
        found: dict[str, Any] = {"trained": 0, "wall_seconds": 0.0}
        try:
            found = json.loads(self.place.read_sealed(self.name))
        except FileNotFoundError:
            pass
        except DamagedError as error:
            aside = self.place.set_aside(self.name)
            told = f"{error}; set aside as {aside}, what earlier runs took is not counted"
            print(told, file=sys.stderr, flush=True)
        return found
