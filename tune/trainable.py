"""What a Ray worker runs: a pack of trials, each of them saved after every epoch."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ray.tune
import torch

from actmodels.config import TrialConfig, trial_from_dict
from actmodels.data.trial_data import TrialData
from actmodels.files import replacing
from actmodels.packed.training import Member, PackTraining
from actmodels.training import Training
from tune.early_stopping import Rungs

load_data = functools.lru_cache(maxsize=1)(TrialData.load)  # a worker runs many trials


def checkpoint_path(checkpoints: Path, key: str) -> Path:
    """Where a trial in progress lies: named by its key, so no other configuration finds it."""
    return checkpoints / f"{key}.pt"


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The state of a trial in progress (Training.state_dict), on the CPU."""
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


class SingleTraining:
    """A trial by itself, handled like a pack."""

    def __init__(self, config: TrialConfig, data: TrialData, device: str) -> None:
        self.members = [Training(config, data, device)]

    @property
    def finished(self) -> bool:
        """The trial has ended."""
        return self.members[0].finished

    def run_epoch(self) -> list[Training]:
        """Train and evaluate once."""
        self.members[0].run_epoch()
        return self.members


def start(
    configs: Sequence[TrialConfig], data: TrialData, device: str
) -> SingleTraining | PackTraining:
    """Trials at their beginning, stacked if there are several."""
    if len(configs) == 1:
        return SingleTraining(configs[0], data, device)
    return PackTraining(configs, data, device)


def report(members: Mapping[str, Training | Member]) -> None:
    """Tell the driver all there is to know of some trials, by key.

    A lost report is made good by the next one of the same trials, which a worker that starts
    again makes first of all.
    """
    news = {
        key: {
            "history": [vars(record) for record in member.history],
            "parameters": member.parameters,
            "diverged": member.diverged,
            "finished": member.finished,
        }
        for key, member in members.items()
    }
    ray.tune.report({"trials": news})


def end_early(members: Mapping[str, Training | Member], rungs: Rungs) -> None:
    """End the trials that stand on a rung and are behind: the last of their epochs has come."""
    for key, member in members.items():  # all first, so that trials of one pack are rivals
        rungs.enter(key, member.history)
    for key, member in members.items():
        epochs = len(member.history)
        if not member.finished and rungs.cuts(member.config.model, key, epochs):
            member.config = replace(member.config, max_epochs=epochs)


def train_pack(
    config: dict[str, Any],
    *,
    data_folder: Path,
    checkpoints: Path,
    device: str,
    threads: int,
    rungs: Rungs | None = None,
) -> None:
    """Train each trial of a pack from its own last saved epoch to its end.

    Args:
        config: {"pack": {key: TrialConfig.as_dict(), ...}}.
        data_folder: artefacts of the `tensors` stage, absolute: a worker has a folder of its own.
        checkpoints: folder of trials in progress, absolute, the same on all nodes.
        device: "cpu" or "cuda". threads: of this pack alone; two packs with torch's default
            on two cores run 4.6 times slower than with one each.
        rungs: where trials are compared, if they may end early.
    """
    torch.set_num_threads(threads)
    configs = [trial_from_dict(stored) for stored in config["pack"].values()]
    training = start(configs, load_data(data_folder), device)
    members = dict(zip(config["pack"], training.members, strict=True))
    taken_up = {}
    for key, member in members.items():
        path = checkpoint_path(checkpoints, key)
        if path.is_file():
            member.load_state_dict(load_checkpoint(path))
            taken_up[key] = member
    if taken_up and rungs:
        end_early(taken_up, rungs)
    if taken_up:
        report(taken_up)
    while not training.finished:
        trained = training.run_epoch()
        told = {key: member for key, member in members.items() if member in trained}
        for key, member in told.items():
            with replacing(checkpoint_path(checkpoints, key)) as temporary:
                torch.save(member.state_dict(), temporary)
        if rungs:
            end_early(told, rungs)
        report(told)
