"""Plan fusions for the cluster, and share their data.

If `trials_per_fusion` is auto, the best size is measured where the fusions train. The constants
are ours; none of them changes a result.
"""

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy
import ray
import torch
from torch.utils.benchmark import Timer

from actmodels.data.trial_data import TrialData
from actmodels.fused import FusedTraining, evaluate_fusion
from actmodels.registry import load_class
from actmodels.trial_config import TrialConfig
from tune.cluster.nodes import Nodes
from tune.cluster.trainable import build_training
from tune.cluster.worker_process import configure_torch
from tune.trials.execution import Execution
from tune.trials.fusion import Fusion, group_by_shape, make_fusions
from tune.trials.grid import Trial

Data: TypeAlias = Mapping[str, "ray.ObjectRef[Any]"]  # training data in Ray's object store, by key
SIZES = (1, 2, 4, 8, 16, 32, 48)
MIN_SPEEDUP = 1.1  # over single trials, in examples per second
MAX_FAILURES = 2  # sizes in a row that are not better than the best
UPDATES = 8  # per timed run
SECONDS = 0.5  # minimum time per size
DEV_PAIRS = 256  # one evaluation batch, which must fit into memory, too


def try_sizes(max_size: int, measure: Callable[[int], float]) -> dict[int, float]:
    """Measure sizes in rising order until they stop improving or memory is exhausted.

    Returns:
        Examples per second by size.
    """
    rates: dict[int, float] = {}
    largest = min(max_size, SIZES[-1])
    for size in [*(size for size in SIZES if size < largest), largest]:
        try:
            rates[size] = measure(size)
        except torch.OutOfMemoryError:
            break
        if len(rates) - list(rates.values()).index(max(rates.values())) > MAX_FAILURES:
            break
    return rates


def best_size(rates: dict[int, float]) -> int:
    """Return the fastest size, or 1 if its speedup is below MIN_SPEEDUP."""
    if not rates:
        return 1
    best = max(rates, key=rates.__getitem__)
    return best if rates[best] >= MIN_SPEEDUP * rates[1] else 1


def examples_per_second(
    configs: Sequence[TrialConfig], data: TrialData, device: str, graphs: bool = False
) -> float:
    """Return the training speed of a fusion, summed over its trials, or of a single trial."""
    batch = UPDATES * configs[0].training.batch_size
    train = data.train.take(torch.arange(min(batch, len(data.train))))
    dev = data.dev.take(torch.arange(min(DEV_PAIRS, len(data.dev))))
    data = replace(data, train=train, dev=dev)
    run: Callable[[], object]
    training, members = build_training(configs, data, device, stacked=True, graphs=graphs)
    if isinstance(training, FusedTraining):
        fusion, optimizer = training.fused(training.members)
        evaluate_fusion(fusion, data.dev, configs[0].input, len(configs))
        run = partial(training.train_epoch, fusion, optimizer, training.members)
    else:
        run = members[0].train_epoch
    timer = Timer("run()", globals={"run": run}, num_threads=torch.get_num_threads())
    times = timer.blocked_autorange(min_run_time=SECONDS).times  # after a warm-up run
    return len(configs) * len(train) / min(times)


def share_data(trials: Iterable[Trial], execution: Execution) -> Data:
    """Put the training data of trials into Ray's object store, once per digest.

    Each node holds one copy, and reads none of this project's folders.
    """
    ray.util.register_serializer(
        torch.Tensor, serializer=torch.Tensor.numpy, deserializer=_as_tensor
    )
    shared: dict[str, ray.ObjectRef[Any]] = {}
    by_key: dict[str, ray.ObjectRef[Any]] = {}
    for trial in trials:
        digest, load = trial.origin["data"], load_class(trial.config.loader)
        if digest not in shared:
            shared[digest] = ray.put(load(trial.config, execution.data_folder, execution.text))
        by_key[trial.key] = shared[digest]
    return by_key


def _as_tensor(array: numpy.ndarray) -> torch.Tensor:
    """Return a tensor in the memory of the object store, without a copy."""
    with warnings.catch_warnings(category=UserWarning, action="ignore"):  # it is not writable
        return torch.from_numpy(array)


def plan_fusions(
    stage: str, trials: list[Trial], execution: Execution, data: Data, nodes: Nodes
) -> list[Fusion]:
    """Group trials into fusions, at least one per worker, in the order of the trials."""
    groups, workers = group_by_shape(trials), nodes.count_capacity()
    sizes: dict[Hashable, int] = {}
    if execution.trials_per_fusion != "auto":
        sizes = dict.fromkeys(groups, execution.trials_per_fusion)
    elif len(trials) > workers:
        several = {shape: group for shape, group in groups.items() if len(group) > 1}
        sizes = measure_sizes(stage, several, execution, data)
    return make_fusions(trials, sizes, workers)


def measure_sizes(
    stage: str, groups: Mapping[Hashable, list[Trial]], execution: Execution, data: Data
) -> dict[Hashable, int]:
    """Measure the fastest fusion size of each group of trials of one shape, on workers."""
    resources: Any = {f"num_{name.lower()}s": n for name, n in execution.resources.items()}
    remote: Any = ray.remote(**resources, max_calls=1, max_retries=0)
    task = remote(measure_rates)
    results = {
        shape: task.remote(
            [t.config for t in group], data[group[0].key], **execution.torch_settings
        )
        for shape, group in groups.items()
    }
    sizes: dict[Hashable, int] = {}
    for shape, group in groups.items():
        rates: dict[int, float] = {}
        try:
            rates = ray.get(results[shape])
            text = ", ".join(f"{size}: {rate:.0f}" for size, rate in rates.items())
        except ray.exceptions.RayError as error:
            text = f"not measured: {str(error).strip().splitlines()[-1]}"
        sizes[shape] = best_size(rates)
        most, names = sizes[shape], f"{group[0].name} and {len(group) - 1} of its shape"
        print(f"{stage}: at most {most} fused trials for {names} (examples/s: {text})", flush=True)
    return sizes


def measure_rates(
    configs: list[TrialConfig],
    data: TrialData,
    *,
    device: str,
    threads: int,
    precision: str,
    graphs: bool,
) -> dict[int, float]:
    """Return examples per second by size of fusion, for trials of one shape; runs on a worker."""
    configure_torch(threads, precision, device)
    measure = partial(examples_per_second, data=data, device=device, graphs=graphs)
    return try_sizes(len(configs), lambda size: measure(configs[:size]))
