"""Where and with which resources trials run. Does not import Ray: it takes seconds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tune.trials.storage import Storage, storage


@dataclass(frozen=True)
class Description:
    """What people call a sweep; no part of a trial's key.

    tags: of its runs in MLflow.
    """

    name: str = ""
    notes: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        tags = ", ".join(f"{name} {value}" for name, value in self.tags.items())
        return "; ".join(filter(None, [self.name, " ".join(self.notes.split()), tags]))


@dataclass(frozen=True)
class Execution:
    """Where and with which resources trials run (section `cluster` of params.yaml).

    Paths are absolute, times are in seconds, and resources are those of one fusion.

    Args:
        data_folder: training data of pairs and questions.
        state: folder of this machine.
        storage: folder or URL of trials in progress, shared by all nodes.
        gpu_graphs: whether updates on a GPU are CUDA graphs, of models that can be fused.
        max_concurrent: of fusions that train at the same time; None: as many as have room.
        time_limit: of one run of a sweep, which then ends with its best.
        notify: URL or command that receives a message when trials have been trained; or None.
        fail_fast: whether the first trial that is given up ends the sweep.
        text: training data of the character task.
        shared_state: folder or URL of finished trials; None for the state folder.
        dataset: name of the training data in MLflow; not logged if empty.
        about: name, notes and tags, for people.
    """

    data_folder: Path
    state: Path
    storage: str | Path
    cpus_per_trial: float = 1
    gpus_per_trial: float = 0
    max_failures: int = 0
    dashboard: bool = False
    trials_per_fusion: int | Literal["auto"] = 1
    matmul_precision: str = "highest"
    gpu_graphs: bool = False
    max_concurrent: int | None = None
    time_limit: float = math.inf
    notify: str | None = None
    fail_fast: bool = False
    text: Path | None = None
    patience: float = 120
    shared_state: str | Path | None = None
    system_metrics: bool = False
    dataset: str = ""
    about: Description = field(default_factory=Description)

    @property
    def device(self) -> str:
        """The torch device: "cuda" if a trial has a share of a GPU."""
        return "cuda" if self.gpus_per_trial > 0 else "cpu"

    @property
    def threads(self) -> int:
        """The number of torch threads."""
        return max(1, int(self.cpus_per_trial))

    @property
    def resources(self) -> dict[str, float]:
        """The resources in Ray's names."""
        resources = {"CPU": self.cpus_per_trial, "GPU": self.gpus_per_trial}
        return {name: amount for name, amount in resources.items() if amount}

    @property
    def torch_settings(self) -> dict[str, Any]:
        """The settings of torch on a worker."""
        settings = {"device": self.device, "threads": self.threads, "graphs": self.gpu_graphs}
        return settings | {"precision": self.matmul_precision}

    @property
    def checkpoints(self) -> Storage:
        """The storage of trials in progress."""
        return storage(f"{self.storage}/checkpoints", retry_seconds=self.patience)

    @property
    def failures(self) -> Path:
        """The folder of the error files of trials that were given up."""
        return self.state / "failures"

    @property
    def trials(self) -> Storage:
        """The storage of finished trials."""
        location = f"{self.shared_state or self.state}/trials"
        return storage(location, "cluster.state", retry_seconds=self.patience)
