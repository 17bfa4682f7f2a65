"""Train a fusion of trials in a Ray worker, with a checkpoint of each trial after every epoch."""

import contextlib
import ctypes
import resource
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import psutil
import ray.tune
import torch

from actmodels.fused import can_fuse
from actmodels.model_training import AnyTraining
from actmodels.records import TrialRecord
from actmodels.registry import load_class
from actmodels.trial_config import BaseTrialConfig
from tune.cluster.worker_process import configure_torch, set_process_title
from tune.trials.early_stopping import RungScores
from tune.trials.fusion import point_peers, point_templates, point_title, point_trials
from tune.trials.grid import Trial
from tune.trials.provenance import machine
from tune.trials.stops import Stops, with_end
from tune.trials.storage import Storage
from tune.trials.store import checkpoint_name, load_checkpoint, save_checkpoint

MIB = 2**20
Members: TypeAlias = Mapping[str, AnyTraining]  # by key
NOTHING: Mapping[str, str] = {}
UNIT = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss: bytes on macOS, KiB on Linux


class InTurn:
    """Trials that train epoch by epoch in turn: one, or the seeds of a configuration."""

    def __init__(self, configs: Sequence[BaseTrialConfig], data: Any, device: str) -> None:
        self.members: list[AnyTraining] = [load_class(c.trainer)(c, data, device) for c in configs]

    @property
    def finished(self) -> bool:
        return all(member.finished for member in self.members)

    def run_epoch(self) -> None:
        """Train and evaluate the unfinished trials for one epoch."""
        for member in self.members:
            if not member.finished:
                member.run_epoch()


def build_training(
    configs: Sequence[BaseTrialConfig], data: Any, device: str, stacked: bool, graphs: bool = False
) -> tuple[Any, list[AnyTraining]]:
    """Return the training of a fusion, as one stacked model or in turn, and that of each member."""
    fused = configs[0].fused_trainer if stacked and len(configs) > 1 else None
    fused = configs[0].static_trainer if graphs else fused
    if fused and can_fuse(configs[0].model):
        training = load_class(fused)(configs, data, device)
    else:
        training = InTurn(configs, data, device)
    return training, training.members


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
    trials: Mapping[str, Trial],
    groups: Iterable[Members],
    notes: list[str],
    device: str,
    system_metrics: bool = False,
    ended_by: Mapping[str, str] = NOTHING,
) -> None:
    """Report the records of trials so far, by key, and notes for the user, which are then cleared.

    Each report repeats the content of the earlier ones, so a lost report does no harm. The trials
    of a group finish together. ended_by: what ended trials before their limits, by key.
    """
    records, finished, usage = dict[str, TrialRecord](), set[str](), device_usage(device)
    for group in groups:
        records |= {
            key: _record(trials[key], member, usage, ended_by.get(key))
            for key, member in group.items()
            if member.history
        }
        finished |= group.keys() if all(member.finished for member in group.values()) else set()
    metrics = resource_metrics(device) if system_metrics else {}
    content = {"trials": records, "finished": finished, "system_metrics": metrics}
    ray.tune.report(content | {"notes": list(notes)})
    notes.clear()


def _record(
    trial: Trial, member: AnyTraining, usage: dict[str, Any], ended_by: str | None
) -> TrialRecord:
    record = TrialRecord(
        key=trial.key,
        config=trial.config.as_dict(),
        parameters=member.parameters,
        history=tuple(member.history),
        provenance=trial.origin,
        diverged=member.diverged,
        machine=usage,
    )
    return with_end(record, ended_by) if ended_by else record


def by_seeds(
    members: Members, rung_scores: RungScores | None
) -> dict[tuple[str, ...], dict[str, AnyTraining]]:
    """Group the trials that end together, by the keys of all seeds of their configuration."""
    groups: dict[tuple[str, ...], dict[str, AnyTraining]] = {}
    for key, member in members.items():
        keys = rung_scores.seeds(member.config.model, key) if rung_scores else [key]
        groups.setdefault(tuple(keys), {})[key] = member
    return groups


def stop_early(groups: Mapping[tuple[str, ...], Members], rung_scores: RungScores) -> None:
    """End the configurations that early stopping rejects, all their seeds at the same epoch."""
    for key, member in (pair for group in groups.values() for pair in group.items()):
        # all scores first: trials of one fusion are compared
        ends = {"finished": member.finished, "diverged": member.diverged}
        rung_scores.record(key, member.history, **ends)
    for keys, group in groups.items():
        model = next(iter(group.values())).config.model
        if (epochs := rung_scores.last_epoch(model, keys)) is None:
            continue
        for member in group.values():
            member.config = replace(member.config, max_epochs=epochs)
            if len(member.history) > epochs:  # another seed had lost its checkpoint
                member.diverged = False
                del member.history[epochs:]


def stop_requested(members: Members, stops: Stops) -> dict[str, str]:
    """End the trials whose end is requested, if they have an epoch; return the reasons by key."""
    ended = {}
    for key, member in members.items():
        if member.history and not member.finished and (reason := stops.reason(key)):
            member.config = replace(member.config, max_epochs=len(member.history))
            ended[key] = reason
    return ended


def train_fusion(
    trials: Sequence[Trial],
    *,
    data: Any,
    checkpoints: Storage,
    device: str,
    threads: int,
    precision: str = "highest",
    graphs: bool = False,
    stacked: bool = True,
    rung_scores: RungScores | None = None,
    stops: Stops | None = None,
    system_metrics: bool = False,
    show: Callable[[int], None] = lambda epoch: None,
) -> None:
    """Train each trial of a fusion from its last checkpoint to its end.

    Args:
        graphs: whether updates are CUDA graphs, where the model allows it.
        stacked: as one model, where the model allows it.
        stops: requests to end trials after an epoch.
        show: called with the number of each epoch before it is trained.
    """
    # the worker's log, a page of Ray's dashboard
    print(*(trial.name for trial in trials), flush=True)
    configure_torch(threads, precision, device)
    by_key = {trial.key: trial for trial in trials}
    configs = [trial.config for trial in trials]
    training, trainings = build_training(configs, data, device, stacked, graphs)
    members = dict(zip(by_key, trainings, strict=True))
    groups = by_seeds(members, rung_scores)
    resumed, notes = {}, rung_scores.notes if rung_scores else []
    for key, member in members.items():
        corrupt = checkpoints.quarantining(checkpoint_name(key), notes, "the trial starts over")
        with contextlib.suppress(FileNotFoundError), corrupt:
            member.load_state_dict(load_checkpoint(checkpoints, key))
            resumed[key] = member
    if rung_scores:
        stop_early(groups, rung_scores)
    ended_by = stop_requested(members, stops) if stops else {}
    # Ray had this fusion waiting for a worker, and the sweep ends; without a report Ray prints it
    too_late = stops and not resumed and stops.reason()
    if resumed or notes or too_late:
        report(by_key, groups.values(), notes, device, ended_by=ended_by)
    if too_late:
        return
    while not training.finished:
        active = {key: member for key, member in members.items() if not member.finished}
        trained = {keys: group for keys, group in groups.items() if group.keys() & active.keys()}
        show(max(member.next_epoch for member in active.values()))
        training.run_epoch()
        for key, member in active.items():
            save_checkpoint(checkpoints, key, member.state_dict())
        if rung_scores:
            stop_early(trained, rung_scores)
        ended_by |= stop_requested(active, stops) if stops else {}
        report(by_key, trained.values(), notes, device, system_metrics, ended_by)


def run_fusion(
    point: dict[str, Any],
    *,
    planned: Mapping[str, Trial],
    data: Mapping[str, ray.ObjectRef[Any]],
    varied: Sequence[str] = (),
    rung_scores: RungScores | None = None,
    **settings: Any,
) -> None:
    """Train the fusion of a `fusion_point`.

    Args:
        planned, data: of all planned trials, by key.
        varied: settings in the title of the worker's process.
    """
    trials = point_trials(point, planned)
    if rung_scores and (peers := point_peers(point)):
        rung_scores = replace(rung_scores, configurations={trials[0].config.model: peers})
    template = point_templates(point)[0]

    def show(epoch: int) -> None:
        set_process_title(point_title(point, varied, epoch))

    try:
        train_fusion(
            trials, data=ray.get(data[template]), rung_scores=rung_scores, show=show, **settings
        )
    finally:  # glibc keeps the freed memory of each fusion, because each fusion has its own thread
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
