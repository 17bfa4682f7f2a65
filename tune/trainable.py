"""What a Ray worker runs: a fusion of trials, each of them saved after every epoch."""

import contextlib
import ctypes
import io
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psutil
import ray.tune
import torch

from actmodels.files import DamagedError
from actmodels.model_training import AnyTraining
from actmodels.records import EpochRecord
from actmodels.registry import load_class
from actmodels.trial_config import BaseTrialConfig
from actmodels.trial_types import trial_type
from tune.early_stopping import Rungs
from tune.provenance import machine
from tune.storage import Storage

MIB = 2**20
UNIT = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss: bytes on macOS, KiB on Linux


def checkpoint_name(key: str) -> str:
    """The file of a trial in progress: named by its key, so no other configuration finds it."""
    return f"{key}.pt"


def load_checkpoint(checkpoints: Storage, key: str) -> dict[str, Any]:
    """The state of a trial in progress (Training.state_dict), on the CPU."""
    stored = io.BytesIO(checkpoints.read_named(checkpoint_name(key)))
    state: dict[str, Any] = torch.load(stored, map_location="cpu", weights_only=True)
    return state


def save_checkpoint(checkpoints: Storage, key: str, state: Mapping[str, Any]) -> None:
    """Write the state of a trial in progress."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    checkpoints.write_named(checkpoint_name(key), buffer.getbuffer())


@dataclass(frozen=True)
class News:
    """What a worker reports of a trial."""

    history: Sequence[EpochRecord]
    parameters: int
    diverged: bool
    finished: bool


def started(
    configs: Sequence[BaseTrialConfig], data: Any, device: str
) -> tuple[Any, list[AnyTraining]]:
    """Trials of one kind at their beginning, stacked if there are several, and each of them."""
    kind, first = trial_type(configs[0]), configs[0]
    if len(configs) > 1:
        assert kind.fusion is not None
        fusion = load_class(kind.fusion)(configs, data, device)
        return fusion, fusion.members
    single: AnyTraining = load_class(kind.training)(first, data, device)
    return single, [single]


def prepare(threads: int, precision: str) -> None:
    """Set what torch computes with; below "highest" a GPU multiplies with TF32 or bfloat16."""
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(precision)
    torch.backends.cudnn.allow_tf32 = precision != "highest"  # torch's own: true, for LSTMs


def report(
    members: Mapping[str, AnyTraining],
    notes: Sequence[str] = (),
    machine: Mapping[str, Any] | None = None,
    load: Mapping[str, float] | None = None,
) -> None:
    """Tell the driver all there is to know of some trials, by key, and notes for the user.

    A lost report is made good by the next one, which a worker that starts again makes first.
    """
    news = {
        key: News([*member.history], member.parameters, member.diverged, member.finished)
        for key, member in members.items()
    }
    told = {"trials": news, "notes": list(notes), "machine": machine or {}, "load": load or {}}
    ray.tune.report(told)


def used(device: str) -> dict[str, Any]:
    """The device's name, and the most MiB of it that this process has had, with earlier trials."""
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
    if device == "cuda":
        taken = torch.cuda.max_memory_allocated()
    name = machine()["gpu" if device == "cuda" else "cpu"]
    return {"device": name, "peak_memory_mib": round(taken / MIB)}


def load(device: str) -> dict[str, float]:
    """How busy the machine is, in MLflow's names: its CPUs since the last call, memory now."""
    memory = psutil.virtual_memory()
    found = {
        "system/cpu_utilization_percentage": psutil.cpu_percent(),
        "system/system_memory_usage_megabytes": memory.used / 1e6,
        "system/system_memory_usage_percentage": memory.percent,
    }
    if device == "cuda":
        free, whole = torch.cuda.mem_get_info()
        found["system/gpu_0_memory_usage_megabytes"] = (whole - free) / 1e6
        found["system/gpu_0_memory_usage_percentage"] = 100 * (1 - free / whole)
    return found


def end_early(members: Mapping[str, AnyTraining], rungs: Rungs) -> None:
    """End the trials that stand on a rung and are behind: the last of their epochs has come."""
    for key, member in members.items():  # all first, so that trials of one fusion are rivals
        rungs.enter(key, member.history)
    for key, member in members.items():
        epochs = len(member.history)
        if not member.finished and rungs.should_stop(member.config.model, key, epochs):
            member.config = replace(member.config, max_epochs=epochs)


def train_fusion(
    configs: Mapping[str, BaseTrialConfig],
    *,
    data: Any,
    checkpoints: Storage,
    device: str,
    threads: int,
    precision: str = "highest",
    rungs: Rungs | None = None,
    system_metrics: bool = False,
) -> None:
    """Train each trial of a fusion, by its key, from its own last saved epoch to its end.

    threads: of this fusion alone; two fusions with torch's default on two cores run 4.6 times
    slower than with one each. rungs: where trials are compared, if they may end early.
    """
    prepare(threads, precision)
    fusion = list(configs.values())
    training, trials = started(fusion, data, device)
    members = dict(zip(configs, trials, strict=True))
    taken_up, notes = {}, rungs.notes if rungs else []
    for key, member in members.items():
        try:
            member.load_state_dict(load_checkpoint(checkpoints, key))
        except FileNotFoundError:
            pass
        except DamagedError as error:
            aside = checkpoints.quarantine(checkpoint_name(key))
            notes.append(f"{error}; set aside as {aside}, the trial starts over")
        else:
            taken_up[key] = member
    if taken_up and rungs:
        end_early(taken_up, rungs)
    if taken_up or notes:
        report(taken_up, notes, used(device))
        notes.clear()
    while not training.finished:
        told = {key: member for key, member in members.items() if not member.finished}
        training.run_epoch()
        for key, member in told.items():
            save_checkpoint(checkpoints, key, member.state_dict())
        if rungs:
            end_early(told, rungs)
        report(told, notes, used(device), load(device) if system_metrics else None)
        notes.clear()


def return_memory() -> None:
    """Hand freed memory back to the system: each fusion has a thread, and glibc a heap for each."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def run_fusion(
    config: dict[str, Any],
    *,
    configs: Mapping[str, BaseTrialConfig],
    data: Mapping[str, ray.ObjectRef[Any]],
    **settings: Any,
) -> None:
    """Train the fusion {"fusion": [key, ...]}: see `train_fusion`. configs, data: of all trials."""
    keys = config["fusion"]
    try:
        train_fusion({key: configs[key] for key in keys}, data=ray.get(data[keys[0]]), **settings)
    finally:
        return_memory()  # here, where the fusion's models are gone
