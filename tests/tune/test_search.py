"""Random search and Optuna on the points of a grid."""

from typing import get_args

from pipeline.parameters.schema import Sweep
from tests.samples import MODELS, sample_trial
from tune.search import SEARCHES, OptunaSearch, RandomSearch

DA, AA = MODELS
POINTS = [
    {"learning_rate": rate, "dropout": dropout, "width": width}
    for rate in (0.1, 0.01, 0.001)
    for dropout in (0.0, 0.1)
    for width in (8, 16, 32)
]
GRID = [sample_trial(AA, seed=seed, **point) for point in POINTS for seed in (1, 2)]


def test_random_points_are_distinct_and_drawn_from_the_seed() -> None:
    configs = [*GRID, *(sample_trial(DA, dropout=rate) for rate in (0.1, 0.2))]
    drawn = RandomSearch(5, 1).draw(configs)
    assert [config.model for config in drawn] == [AA] * 10 + [DA] * 2
    assert [config for config in configs if config in drawn] == drawn  # in the grid's order
    assert [config.seed for config in drawn] == [1, 2] * 5 + [1, 1]
    assert drawn == RandomSearch(5, 1).draw(configs) != RandomSearch(5, 2).draw(configs)
    assert set(drawn) < set(RandomSearch(6, 1).draw(configs))


def test_optuna_finds_the_best_point_early_and_repeats_none() -> None:
    configs, found = GRID[::2], []
    for seed in range(8):
        scores: dict[int, float | None] = {}
        for number in range(len(configs)):
            index = OptunaSearch(None, seed).propose(configs, scores)
            assert index not in scores
            point = POINTS[index]
            scores[index] = point["width"] / 32 - point["dropout"] + point["learning_rate"]
            if number == 6:
                scores[index] = None  # not finished
        assert len(scores) == len(configs)
        found.append(list(scores).index(2))  # rate 0.1, dropout 0, width 32
    assert sum(found) / len(found) < len(configs) / 2, found
    assert get_args(Sweep.model_fields["search"].annotation) == tuple(SEARCHES)
    one = OptunaSearch(None, 1)
    assert one.propose(configs, {3: 0.5}) == one.propose(configs, {3: 0.5})
    assert one.propose(configs[:1], {}) == 0
