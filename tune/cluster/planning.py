"""Measure the speed and the memory of trials before they run, where they will run."""

from collections.abc import Sequence
from statistics import median
from typing import Any, Literal, TypeAlias

import ray
from tqdm import tqdm

from actmodels.data.trial_data import TrialData
from actmodels.trial_config import TrialConfig
from tune.cluster.connection import connected
from tune.cluster.fusion_tuning import best_size, examples_per_second, measure_rates, share_data
from tune.cluster.nodes import Nodes
from tune.cluster.trainable import device_usage
from tune.cluster.worker_process import configure_torch
from tune.trials.execution import Execution
from tune.trials.fusion import group_by_shape
from tune.trials.grid import Trial
from tune.trials.provenance import code_packages
from tune.trials.storage import prepare

ROUNDS = 3  # ours; during the first, other workers start, and at the end of the last they are idle
Shape: TypeAlias = tuple[Sequence[Trial], float]  # trials, and their examples/s of a worker


def measure_shapes(trials: Sequence[Trial], execution: Execution) -> tuple[int, float, list[Shape]]:
    """Return the number of workers, the MiB of the largest, and the shapes of the trials."""
    prepare(execution.checkpoints, "cluster.storage")  # nodes are checked by it
    groups = list(group_by_shape(trials).values())
    code = dict.fromkeys(path for group in groups for path in code_packages(group[0].config))
    with (
        connected(dashboard=False, state=execution.state, code=code),
        Nodes(execution) as nodes,
    ):
        workers = min(max(1, nodes.count_capacity()), len(trials))
        data = share_data(trials, execution)
        resources: Any = {f"num_{name.lower()}s": n for name, n in execution.resources.items()}
        remote: Any = ray.remote(**resources)
        task = remote(measure)
        size, settings = execution.trials_per_fusion, execution.torch_settings
        rounds = [
            [
                task.remote([t.config for t in group], data[group[0].key], size, **settings)
                for group in groups
            ]
            for _ in range(ROUNDS)
        ]
        bar = tqdm(zip(*rounds, strict=True), "measure", len(groups), unit="shape")
        measured = [ray.get(list(results)) for results in bar]
    rates = [median(rate for rate, _ in results) for results in measured]
    shapes: list[Shape] = list(zip(groups, rates, strict=True))
    return workers, max(memory for results in measured for _, memory in results), shapes


def measure(
    configs: list[TrialConfig], data: TrialData, size: int | Literal["auto"], **settings: Any
) -> tuple[float, float]:
    """Return examples per second of a fusion of this size, and the worker's peak MiB.

    settings: of torch, see Execution.
    """
    if size == "auto":
        rates = measure_rates(configs, data, **settings)
        rate = rates[best_size(rates)]
    else:
        graphs = settings.pop("graphs")
        configure_torch(**settings)
        rate = examples_per_second(configs[:size], data, settings["device"], graphs)
    return rate, device_usage(settings["device"])["peak_memory_mib"]
