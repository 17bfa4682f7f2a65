"""Train a fusion of trials in a Ray worker, with a checkpoint of each trial after every epoch."""

import contextlib
import ctypes
import io
import json
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psutil
import ray.tune
import torch

from actmodels.model_training import AnyTraining
from actmodels.records import EpochRecord, trial_name
from actmodels.registry import load_class
from actmodels.torch_settings import configure_torch
from actmodels.trial_config import BaseTrialConfig
from tune.early_stopping import RungScores
from tune.grid import Trial
from tune.provenance import machine
from tune.search import with_settings
from tune.storage import Storage
from tune.store import checkpoint_name

MIB = 2**20
UNIT = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss: bytes on macOS, KiB on Linux


def load_checkpoint(checkpoints: Storage, key: str) -> dict[str, Any]:
    """Load the state of an unfinished trial (Training.state_dict) onto the CPU."""
    file = io.BytesIO(checkpoints.read_named(checkpoint_name(key)))
    state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    return state


def save_checkpoint(checkpoints: Storage, key: str, state: Mapping[str, Any]) -> None:
    """Save the state of an unfinished trial."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    checkpoints.write_named(checkpoint_name(key), buffer.getbuffer())


@dataclass(frozen=True)
class TrialReport:
    """The progress of a trial, as a worker reports it."""

    history: Sequence[EpochRecord]
    parameters: int
    diverged: bool
    finished: bool


def build_training(
    configs: Sequence[BaseTrialConfig], data: Any, device: str
) -> tuple[Any, list[AnyTraining]]:
    """Return the training of a fusion, or of a single trial, and the training of each member."""
    first = configs[0]
    if len(configs) > 1:
        assert first.fused_trainer is not None
        fusion = load_class(first.fused_trainer)(configs, data, device)
        return fusion, fusion.members
    single: AnyTraining = load_class(first.trainer)(first, data, device)
    return single, [single]


def device_usage(device: str) -> dict[str, Any]:
    """Return the device's name and the peak memory of this process (MiB), over all its trials."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
    if device == "cuda":
        peak = torch.cuda.max_memory_allocated()
    name = machine()["gpu" if device == "cuda" else "cpu"]
    return {"device": name, "peak_memory_mib": round(peak / MIB)}


def resource_metrics(device: str) -> dict[str, float]:
    """Return MLflow's system metrics: CPU load since the last call, and memory in use."""
    memory = psutil.virtual_memory()
    metrics = {
        "system/cpu_utilization_percentage": psutil.cpu_percent(),
        "system/system_memory_usage_megabytes": memory.used / 1e6,
        "system/system_memory_usage_percentage": memory.percent,
    }
    if device == "cuda":
        free, total = torch.cuda.mem_get_info()
        metrics["system/gpu_0_memory_usage_megabytes"] = (total - free) / 1e6
        metrics["system/gpu_0_memory_usage_percentage"] = 100 * (1 - free / total)
    return metrics


def report(
    members: Mapping[str, AnyTraining], notes: list[str], device: str, system_metrics: bool = False
) -> None:
    """Report the whole progress of trials, by key, and notes for the user, which are then cleared.

    Each report repeats the content of the earlier ones, so a lost report does no harm.
    """
    trials = {
        key: TrialReport([*member.history], member.parameters, member.diverged, member.finished)
        for key, member in members.items()
    }
    metrics = resource_metrics(device) if system_metrics else {}
    usage = {"machine": device_usage(device), "system_metrics": metrics}
    ray.tune.report({"trials": trials, "notes": list(notes), **usage})
    notes.clear()


def stop_early(members: Mapping[str, AnyTraining], rung_scores: RungScores) -> None:
    """End the trials that early stopping rejects: the current epoch becomes their last."""
    for key, member in members.items():  # all scores first: trials of one fusion are compared
        rung_scores.record(key, member.history)
    for key, member in members.items():
        epochs = len(member.history)
        if not member.finished and rung_scores.should_stop(member.config.model, key, epochs):
            member.config = replace(member.config, max_epochs=epochs)


def train_fusion(
    configs: Mapping[str, BaseTrialConfig],
    *,
    data: Any,
    checkpoints: Storage,
    device: str,
    threads: int,
    precision: str = "highest",
    rung_scores: RungScores | None = None,
    system_metrics: bool = False,
) -> None:
    """Train each trial of a fusion, by key, from its last checkpoint to its end."""
    # the worker's log, a page of Ray's dashboard
    print(*(trial_name(key, config.model) for key, config in configs.items()), flush=True)
    configure_torch(threads, precision, device)
    training, trials = build_training(list(configs.values()), data, device)
    members = dict(zip(configs, trials, strict=True))
    resumed, notes = {}, rung_scores.notes if rung_scores else []
    for key, member in members.items():
        corrupt = checkpoints.quarantining(checkpoint_name(key), notes, "the trial starts over")
        with contextlib.suppress(FileNotFoundError), corrupt:
            member.load_state_dict(load_checkpoint(checkpoints, key))
            resumed[key] = member
    if resumed and rung_scores:
        stop_early(resumed, rung_scores)
    if resumed or notes:
        report(resumed, notes, device)
    while not training.finished:
        active = {key: member for key, member in members.items() if not member.finished}
        training.run_epoch()
        for key, member in active.items():
            save_checkpoint(checkpoints, key, member.state_dict())
        if rung_scores:
            stop_early(active, rung_scores)
        report(active, notes, device, system_metrics)


def fusion_config(fusion: Sequence[Trial], peers: Sequence[str] = ()) -> dict[str, str]:
    """Return the config of Ray's trial of a fusion: strings, as Ray walks through lists.

    peers: keys of the trials with which a proposed one is compared.
    """
    config = {"fusion": " ".join(trial.key for trial in fusion), **fusion[0].proposal}
    return config | ({"peers": " ".join(peers)} if peers else {})


def fusion_keys(config: Mapping[str, str]) -> list[str]:
    """Return the keys of the trials of a fusion from the config of Ray's trial."""
    return config["fusion"].split()


def run_fusion(
    config: dict[str, str],
    *,
    configs: Mapping[str, BaseTrialConfig],
    data: Mapping[str, ray.ObjectRef[Any]],
    rung_scores: RungScores | None = None,
    **settings: Any,
) -> None:
    """Train the fusion of a `fusion_config`; configs, data: of all planned trials, by key."""
    keys = fusion_keys(config)
    planned = config.get("template", keys[0])
    if "template" in config:
        configs = {keys[0]: with_settings(configs[planned], json.loads(config["settings"]))}
    members = {key: configs[key] for key in keys}
    if rung_scores and "peers" in config:
        peers = {members[keys[0]].model: config["peers"].split()}
        rung_scores = replace(rung_scores, keys=peers)
    try:
        train_fusion(members, data=ray.get(data[planned]), rung_scores=rung_scores, **settings)
    finally:  # glibc keeps the freed memory of each fusion, because each fusion has its own thread
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
