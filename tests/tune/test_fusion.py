"""Fusions: which trials are fused, how many, and the best size on a device."""

from collections.abc import Callable

import pytest
import torch

from actmodels.static_updates import StaticTraining
from tests.samples import keyed, sample_data, sample_trial
from tests.studies.sequences.samples import sample_trial as sequence_trial
from tune.cluster.fusion_tuning import best_size, examples_per_second, try_sizes
from tune.cluster.trainable import InTurn, build_training
from tune.trials.early_stopping import SuccessiveHalving
from tune.trials.fusion import fusion_name, group_by_shape, make_fusions, split_largest
from tune.trials.grid import Trial

ADAPTIVE, DECOMPOSABLE = "adaptive_attention", "decomposable_attention"


def fusions(trials: list[Trial], size: int, workers: int) -> list[list[int]]:
    """The fusions as positions in the list."""
    made = make_fusions(trials, dict.fromkeys(group_by_shape(trials), size), workers)
    position = {trial.key: number for number, trial in enumerate(trials)}
    return [[position[trial.key] for trial in fusion] for fusion in made]


def same_shape(count: int) -> list[Trial]:
    """Trials of one shape."""
    return keyed(sample_trial(DECOMPOSABLE, dropout=n / 1000) for n in range(count))


def test_trials_of_different_shapes_are_not_fused() -> None:
    grid = keyed(
        [
            sample_trial(ADAPTIVE, dropout=0.1),
            sample_trial(DECOMPOSABLE, dropout=0.1),
            sample_trial(ADAPTIVE, width=16),
            sample_trial(ADAPTIVE, dropout=0.2),
            sample_trial(ADAPTIVE, batch_size=4),
            sample_trial(DECOMPOSABLE, learning_rate=0.1),
            sample_trial(ADAPTIVE, optimizer="adagrad"),
        ]
    )
    assert fusions(grid, 48, 1) == [[0, 3], [1, 5], [2], [4], [6]]


def test_a_model_that_cannot_be_fused_trains_alone() -> None:
    name = f"{ADAPTIVE}_as_published"
    published = [sample_trial(name, dropout=dropout) for dropout in (0.1, 0.2)]
    grid = keyed([*published, sequence_trial(seed=1), sequence_trial(seed=2)])
    assert fusions(grid, 48, 1) == [[0], [1], [2], [3]]


def test_size_one_leaves_everything_as_it_was() -> None:
    grid = keyed(sample_trial(m, seed=s) for s in (2, 1) for m in (DECOMPOSABLE, ADAPTIVE))
    assert fusions(grid, 1, 2) == [[0], [1], [2], [3]]
    assert [fusion_name([trial]) for trial in grid] == [trial.name for trial in grid]
    assert fusion_name(grid) == f"{grid[0].name}-and-3-more"


@pytest.mark.parametrize(
    ("count", "size", "workers", "sizes"),
    [
        (4, 48, 2, [2, 2]),  # nobody idles
        (4, 48, 1, [4]),
        (4, 48, 8, [1, 1, 1, 1]),
        (5, 48, 2, [2, 3]),
        (10, 4, 1, [3, 3, 4]),  # the fewest fusions, of similar sizes
        (96, 48, 1, [48, 48]),
        (96, 48, 3, [32, 32, 32]),
        (1, 48, 4, [1]),
    ],
)
def test_trials_are_spread_over_the_workers(
    count: int, size: int, workers: int, sizes: list[int]
) -> None:
    result = fusions(same_shape(count), size, workers)
    assert [len(fusion) for fusion in result] == sizes
    assert sorted(number for fusion in result for number in fusion) == list(range(count))


def test_trials_are_sorted_by_seed_then_slowness() -> None:
    """A small ponder weight takes many steps, so it is not fused with a large one."""
    grid = keyed(
        sample_trial(ADAPTIVE, seed=seed, dropout=dropout, ponder_weight=weight)
        for dropout in (0.1, 0.2)
        for weight in (0.1, 0.001)
        for seed in (1, 2)
    )
    assert fusions(grid, 2, 1) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert fusions(grid, 4, 1) == [[0, 4, 2, 6], [1, 5, 3, 7]]


@pytest.mark.parametrize(
    ("model", "size", "workers", "made"),
    [
        (DECOMPOSABLE, 1, 9, [[0, 1], [2, 3], [4, 5]]),  # a worker of its own for each at most
        (DECOMPOSABLE, 4, 1, [[0, 1], [2, 3, 4, 5]]),
        (f"{ADAPTIVE}_as_published", 48, 1, [[0, 1], [2, 3], [4, 5]]),
    ],
)
def test_seeds_that_end_together_train_together(
    model: str, size: int, workers: int, made: list[list[int]]
) -> None:
    grid = keyed(
        [sample_trial(model, dropout=d, seed=s) for d in (0.1, 0.2, 0.3) for s in (1, 2)],
        early_stopping=SuccessiveHalving(1, 3),
    )
    assert fusions(grid, size, workers) == made
    halves = split_largest([grid], 9)
    assert {tuple(grid.index(t) for t in half) for half in halves} == {(0, 1), (2, 3), (4, 5)}


def rate(rates: dict[int, float], memory: int = 99) -> Callable[[int], float]:
    """A fake measurement on a device with memory for this number of trials."""

    def measure(size: int) -> float:
        if size > memory:
            raise torch.OutOfMemoryError
        return rates[size]

    return measure


GPU = {1: 100.0, 2: 190.0, 4: 350.0, 8: 600.0, 16: 900.0, 32: 1100.0, 48: 1050.0}
CPU = {1: 100.0, 2: 104.0, 4: 103.0, 8: 102.0}
SLOWER = {1: 100.0, 2: 90.0, 4: 80.0}


@pytest.mark.parametrize(
    ("measure", "tried", "chosen"),
    [
        (rate(GPU), [1, 2, 4, 8, 16, 32, 48], 32),
        (rate(GPU, memory=20), [1, 2, 4, 8, 16], 16),
        (rate(GPU, memory=0), [], 1),
        (rate(CPU), [1, 2, 4, 8], 1),  # less than a tenth is not worth it
        (rate(SLOWER), [1, 2, 4], 1),
        (rate({1: 100.0, 2: 90.0, 4: 120.0, 8: 115.0, 16: 90.0}), [1, 2, 4, 8, 16], 4),
    ],
)
def test_sizes_are_measured_until_they_stop_improving(
    measure: Callable[[int], float], tried: list[int], chosen: int
) -> None:
    rates = try_sizes(48, measure)
    assert list(rates) == tried
    assert best_size(rates) == chosen


@pytest.mark.parametrize("size", [1, 3])
def test_a_real_measurement(size: int) -> None:
    configs = [trial.config for trial in same_shape(size)]
    assert examples_per_second(configs, sample_data(), "cpu") > 0
    assert examples_per_second(configs, sample_data(), "cpu", graphs=True) > 0


@pytest.mark.parametrize("count", [1, 2])
def test_with_graphs_models_that_can_be_fused_have_recorded_updates(count: int) -> None:
    for name, made in (("adaptive_attention", StaticTraining), ("transformer", InTurn)):
        configs, data = [sample_trial(name)] * count, sample_data(train=8)
        training, members = build_training(configs, data, "cpu", stacked=False, graphs=True)
        assert type(training) is made and len(members) == count
