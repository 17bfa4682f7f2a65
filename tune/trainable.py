"""What a Ray worker runs: one trial, saved after every epoch."""

import functools
from pathlib import Path
from typing import Any

import ray.tune
import torch

from actmodels.config import trial_from_dict
from actmodels.data.trial_data import TrialData
from actmodels.files import replacing
from actmodels.training import Training

load_data = functools.lru_cache(maxsize=1)(TrialData.load)  # a worker runs many trials


def checkpoint_path(checkpoints: Path, key: str) -> Path:
    """Where a trial in progress lies: named by its key, so no other configuration finds it."""
    return checkpoints / f"{key}.pt"


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The state of a trial in progress (Training.state_dict), on the CPU."""
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def report(training: Training) -> None:
    """Tell the driver all there is to know so far; a lost report is made good by the next."""
    ray.tune.report(
        {
            "history": [vars(record) for record in training.history],
            "dev_accuracy": training.history[-1].dev_accuracy,
            "parameters": training.parameters,
            "diverged": training.diverged,
            "finished": training.finished,
        }
    )


def train_trial(
    config: dict[str, Any], *, data_folder: Path, checkpoints: Path, device: str, threads: int
) -> None:
    """Train one trial from its last saved epoch to its end.

    Args:
        config: {"point": {"key": ..., "trial": TrialConfig.as_dict()}}.
        data_folder: artefacts of the `tensors` stage, absolute: a worker has a folder of its own.
        checkpoints: folder of trials in progress, absolute, the same on all nodes.
        device: "cpu" or "cuda". threads: of this trial alone; two trials with torch's default
            on two cores run 4.6 times slower than with one each.
    """
    torch.set_num_threads(threads)
    point = config["point"]
    path = checkpoint_path(checkpoints, point["key"])
    training = Training(trial_from_dict(point["trial"]), load_data(data_folder), device)
    if path.is_file():
        training.load_state_dict(load_checkpoint(path))
        report(training)
    for _ in training.epochs():
        with replacing(path) as temporary:
            torch.save(training.state_dict(), temporary)
        report(training)
