"""Where and with what trials are run. No Ray: a stage with nothing to train does not load it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tune.storage import Storage, storage


@dataclass(frozen=True)
class Execution:
    """Where and with what trials are run (section `cluster` of params.yaml).

    Paths are absolute. `data_folder` has what trials on pairs or questions are trained on, `text`
    is the file that those on characters read. `state` is this machine's; `storage`, a folder or URL
    that all nodes see, holds trials in progress, and `finished`, another one, those that have
    ended. A fusion of trials has the resources of one trial. `workers` limits how many fusions
    train at a time. The waits are in seconds.
    """

    data_folder: Path
    state: Path
    storage: str | Path
    cpus_per_trial: float
    gpus_per_trial: float
    max_failures: int
    dashboard: bool
    trials_per_fusion: int | Literal["auto"] = 1
    matmul_precision: str = "highest"
    workers: int | None = None
    text: Path | None = None
    wait_for_nodes: float = 0
    wait_for_answer: float = 180
    wait_for_storage: float = 120
    finished: str | Path | None = None
    system_metrics: bool = False

    @property
    def device(self) -> str:
        """Where models live: "cuda" if trials have a share of a GPU."""
        return "cuda" if self.gpus_per_trial > 0 else "cpu"

    @property
    def threads(self) -> int:
        """Threads of one fusion."""
        return max(1, int(self.cpus_per_trial))

    @property
    def resources(self) -> dict[str, float]:
        """What Ray sets aside for one fusion."""
        return {"cpu": self.cpus_per_trial, "gpu": self.gpus_per_trial}

    @property
    def where(self) -> dict[str, Any]:
        """What a worker is told about its surroundings."""
        precision = self.matmul_precision
        return {"device": self.device, "threads": self.threads, "precision": precision}

    @property
    def joins(self) -> bool:
        """Trials run on a cluster that is there, and not on a Ray started for them."""
        return bool(os.environ.get("RAY_ADDRESS"))

    @property
    def checkpoints(self) -> Storage:
        """Where the trials in progress lie."""
        return storage(f"{self.storage}/checkpoints", patience=self.wait_for_storage)

    @property
    def trials(self) -> Storage:
        """Where finished trials lie."""
        place = f"{self.finished or self.state}/trials"
        return storage(place, "cluster.state", patience=self.wait_for_storage)
