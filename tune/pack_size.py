"""How many trials train best together on a device: measured where `trials_per_pack` is auto.

No Ray: `tune.on_ray` has this done where a pack will train. None of the numbers here changes
a result; all are ours.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from actmodels.config import TrialConfig
from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import TrialData
from actmodels.packed.optimizer import PackOptimizer
from actmodels.packed.stack import stack
from actmodels.packed.training import PackTraining, evaluate_pack
from actmodels.training import Training

SIZES = (1, 2, 4, 8, 16, 32, 48)
WORTHWHILE = 1.1  # a pack must train so many times the examples per second of single trials
PATIENCE = 2  # sizes in a row that are not better than the best, after which no more are tried
UPDATES = 8  # timed together, again and again; the fastest time counts
SECONDS = 0.5  # how long each size is timed at least
DEV_PAIRS = 256  # a whole batch of an evaluation, which must fit into memory too


def sizes_up_to(most: int) -> list[int]:
    """The sizes tried where a pack can have at most so many trials."""
    largest = min(most, SIZES[-1])
    return [size for size in SIZES if size < largest] + [largest]


def try_sizes(most: int, measure: Callable[[int], float]) -> dict[int, float]:
    """Measure sizes in rising order, until they gain nothing or memory does not suffice.

    Args:
        most: trials that there are.
        measure: examples per second, of all trials together, of a pack of some size.
    """
    rates: dict[int, float] = {}
    for size in sizes_up_to(most):
        try:
            rates[size] = measure(size)
        except torch.OutOfMemoryError:
            break
        if len(rates) - list(rates.values()).index(max(rates.values())) > PATIENCE:
            break
    return rates


def best_size(rates: dict[int, float]) -> int:
    """The size of the most examples per second; 1 where packs are not worth it."""
    if not rates:
        return 1
    best = max(rates, key=rates.__getitem__)
    return best if rates[best] >= WORTHWHILE * rates[1] else 1


def excerpt(pairs: PairTensors, count: int) -> PairTensors:
    """The first pairs of a split."""
    count = min(count, len(pairs))
    premise, hypothesis = pairs.premise_offsets[: count + 1], pairs.hypothesis_offsets[: count + 1]
    return PairTensors(
        pairs.premise_ids[: int(premise[-1])],
        premise,
        pairs.hypothesis_ids[: int(hypothesis[-1])],
        hypothesis,
        pairs.labels[:count],
        pairs.depths[:count],
    )


def examples_per_second(configs: Sequence[TrialConfig], data: TrialData, device: str) -> float:
    """Train a few updates of a pack, or of a trial by itself as it would be trained.

    Returns:
        examples per second, of all trials together.
    """
    pairs = UPDATES * configs[0].training.batch_size
    data = replace(data, train=excerpt(data.train, pairs), dev=excerpt(data.dev, DEV_PAIRS))
    train = _single(configs[0], data, device) if len(configs) == 1 else _pack(configs, data, device)
    _seconds(train, device)  # warms up
    times: list[float] = []
    while sum(times) < SECONDS:
        times.append(_seconds(train, device))
    return len(configs) * len(data.train) / min(times)


def _single(config: TrialConfig, data: TrialData, device: str) -> Callable[[], object]:
    return Training(config, data, device).train_epoch


def _pack(configs: Sequence[TrialConfig], data: TrialData, device: str) -> Callable[[], object]:
    training = PackTraining(configs, data, device)
    members = training.members
    pack = stack([member.model for member in members])
    optimizer = PackOptimizer(pack, configs, [member.optimizer.state_dict() for member in members])
    evaluate_pack(pack, data.dev, configs[0].input, len(members))
    return lambda: training.train_epoch(pack, optimizer, members)


def _seconds(action: Callable[[], object], device: str) -> float:
    """How long the device takes."""
    start = time.perf_counter()
    action()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start
