"""Putting trials into packs for the cluster that there is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import ray

from actmodels.config import TrialConfig
from actmodels.data.trial_data import load_data
from tune.grid import Trial
from tune.pack_size import best_size, examples_per_second, try_sizes
from tune.packing import Pack, by_shape, in_order, make_packs
from tune.room import places
from tune.trainable import prepare


def place(
    kind: str,
    trials: list[Trial],
    trials_per_pack: int | Literal["auto"],
    *,
    resources: Mapping[str, float],
    where: Mapping[str, Any],
) -> list[Pack]:
    """Put trials into packs, enough of them for all workers, in the order of the trials.

    Args:
        kind: what is running, for messages.
        resources: what Ray sets aside for one pack (cpu, gpu).
        where: data_folder, device and threads of a worker.
    """
    groups, room = by_shape(trials), places(resources)
    sizes = dict.fromkeys(groups, 1)
    if trials_per_pack != "auto":
        sizes = dict.fromkeys(groups, trials_per_pack)
    elif len(trials) > room:  # else there is a worker for each trial
        several = {shape: group for shape, group in groups.items() if len(group) > 1}
        found = measured_sizes(kind, list(several.values()), resources, where)
        sizes |= zip(several, found, strict=True)
    return in_order(make_packs(groups, sizes, room), trials)


def measured_sizes(
    kind: str, groups: list[list[Trial]], resources: Mapping[str, float], where: Mapping[str, Any]
) -> list[int]:
    """The best size of a pack for each group of trials of one shape, measured where they train."""
    task: Any = ray.remote(
        num_cpus=resources["cpu"], num_gpus=resources["gpu"], max_calls=1, max_retries=0
    )
    task = task(measured_rates)
    answers = [task.remote([t.config for t in group], **where) for group in groups]
    sizes = []
    for group, answer in zip(groups, answers, strict=True):
        rates: dict[int, float] = {}
        try:
            rates = ray.get(answer)
            shown = ", ".join(f"{size}: {rate:.0f}" for size, rate in rates.items())
        except ray.exceptions.RayError as error:
            shown = f"not measured: {str(error).strip().splitlines()[-1]}"
        sizes.append(best_size(rates))
        like = f"{group[0].name} and the {len(group) - 1} of its shape"
        print(f"{kind}: at most {sizes[-1]} in a pack for {like} (examples/s: {shown})", flush=True)
    return sizes


def measured_rates(
    configs: list[TrialConfig],
    *,
    data_folder: Path,
    device: str,
    threads: int,
    precision: str = "highest",
) -> dict[int, float]:
    """Examples per second by size of pack, for trials of one shape; what a worker runs."""
    prepare(threads, precision)
    data = load_data(data_folder)
    return try_sizes(len(configs), lambda size: examples_per_second(configs[:size], data, device))
