"""Putting trials into fusions for the cluster that there is.

The best size of a fusion is measured where it will train if `trials_per_fusion` is auto. No number
here changes a result; all are ours.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy
import ray
import torch

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import TrialData
from actmodels.fused.optimizer import FusedOptimizer
from actmodels.fused.stack import stack
from actmodels.fused.training import FusedTraining, evaluate_fusion
from actmodels.registry import load_class
from actmodels.training import Training
from actmodels.trial_config import TrialConfig
from actmodels.trial_types import trial_type
from tune.execution import Execution
from tune.fusion import Fusion, by_shape, in_order, make_fusions
from tune.grid import Trial
from tune.nodes import Nodes
from tune.trainable import prepare

Data: TypeAlias = Mapping[str, "ray.ObjectRef[Any]"]  # of trials by their keys, in Ray's store
SIZES = (1, 2, 4, 8, 16, 32, 48)
WORTHWHILE = 1.1  # a fusion must train so many times the examples per second of single trials
PATIENCE = 2  # sizes in a row that are not better than the best, after which no more are tried
UPDATES = 8  # timed together, again and again; the fastest time counts
SECONDS = 0.5  # how long each size is timed at least
DEV_PAIRS = 256  # a whole batch of an evaluation, which must fit into memory too


def try_sizes(most: int, measure: Callable[[int], float]) -> dict[int, float]:
    """Measure sizes (examples/s) in rising order, until they gain nothing or memory lacks."""
    rates: dict[int, float] = {}
    largest = min(most, SIZES[-1])
    for size in [*(size for size in SIZES if size < largest), largest]:
        try:
            rates[size] = measure(size)
        except torch.OutOfMemoryError:
            break
        if len(rates) - list(rates.values()).index(max(rates.values())) > PATIENCE:
            break
    return rates


def best_size(rates: dict[int, float]) -> int:
    """The size of the most examples per second; 1 where fusions are not worth it."""
    if not rates:
        return 1
    best = max(rates, key=rates.__getitem__)
    return best if rates[best] >= WORTHWHILE * rates[1] else 1


def excerpt(pairs: PairTensors, count: int) -> PairTensors:
    """The first pairs of a split."""
    return pairs.take(torch.arange(min(count, len(pairs))))


def examples_per_second(configs: Sequence[TrialConfig], data: TrialData, device: str) -> float:
    """Train a few updates of a fusion, or of a single trial; of all trials together."""
    pairs = UPDATES * configs[0].training.batch_size
    data = replace(data, train=excerpt(data.train, pairs), dev=excerpt(data.dev, DEV_PAIRS))
    train: Callable[[], object] = Training(configs[0], data, device).train_epoch
    if len(configs) > 1:
        train = _fusion(configs, data, device)
    _seconds(train, device)  # warms up
    times: list[float] = []
    while sum(times) < SECONDS:
        times.append(_seconds(train, device))
    return len(configs) * len(data.train) / min(times)


def _fusion(configs: Sequence[TrialConfig], data: TrialData, device: str) -> Callable[[], object]:
    training = FusedTraining(configs, data, device)
    members = training.members
    fusion = stack([member.model for member in members])
    optimizer = FusedOptimizer(
        fusion, configs, [member.optimizer.state_dict() for member in members]
    )
    evaluate_fusion(fusion, data.dev, configs[0].input, len(members))
    return lambda: training.train_epoch(fusion, optimizer, members)


def _seconds(action: Callable[[], object], device: str) -> float:
    """How long the device takes."""
    start = time.perf_counter()
    action()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def share(trials: Iterable[Trial], execution: Execution) -> Data:
    """Put what trials are trained on, by their keys, into Ray's object store, each digest once.

    A node has it once, whatever it trains, and reads nothing of this project's folders.
    """
    ray.util.register_serializer(
        torch.Tensor, serializer=torch.Tensor.numpy, deserializer=_as_tensor
    )
    shared: dict[str, ray.ObjectRef[Any]] = {}
    by_key: dict[str, ray.ObjectRef[Any]] = {}
    for trial in trials:
        digest, load = trial.origin["data"], load_class(trial_type(trial.config).data)
        if digest not in shared:
            shared[digest] = ray.put(load(trial.config, execution.data_folder, execution.text))
        by_key[trial.key] = shared[digest]
    return by_key


def _as_tensor(array: numpy.ndarray) -> torch.Tensor:
    """The memory of the object store itself, where Ray leaves arrays; nodes lack MLflow."""
    with warnings.catch_warnings(category=UserWarning, action="ignore"):  # it is not writable
        return torch.from_numpy(array)


def place(
    kind: str, trials: list[Trial], execution: Execution, data: Data, nodes: Nodes
) -> list[Fusion]:
    """Put trials into fusions, enough of them for all workers, in the order of the trials."""
    groups, room = by_shape(trials), nodes.places(execution.resources)
    sizes = dict.fromkeys(groups, 1)
    if execution.trials_per_fusion != "auto":
        sizes = dict.fromkeys(groups, execution.trials_per_fusion)
    elif len(trials) > room:  # else there is a worker for each trial
        several = {shape: group for shape, group in groups.items() if len(group) > 1}
        found = measured_sizes(kind, list(several.values()), execution, data)
        sizes |= zip(several, found, strict=True)
    return in_order(make_fusions(groups, sizes, room), trials)


def measured_sizes(
    kind: str, groups: list[list[Trial]], execution: Execution, data: Data
) -> list[int]:
    """Measure the fastest fusion size for each group of trials of one shape."""
    room: Any = {f"num_{name}s": amount for name, amount in execution.resources.items()}
    remote: Any = ray.remote(**room, max_calls=1, max_retries=0)
    task = remote(measured_rates)
    answers = [
        task.remote([t.config for t in group], data[group[0].key], **execution.where)
        for group in groups
    ]
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
        print(
            f"{kind}: at most {sizes[-1]} when fused for {like} (examples/s: {shown})", flush=True
        )
    return sizes


def measured_rates(
    configs: list[TrialConfig], data: TrialData, *, device: str, threads: int, precision: str
) -> dict[int, float]:
    """Examples per second by size of fusion, for trials of one shape; what a worker runs."""
    prepare(threads, precision)
    return try_sizes(len(configs), lambda size: examples_per_second(configs[:size], data, device))
