"""Random search and Optuna on the points of a grid, and on ranges."""

from collections.abc import Callable
from itertools import islice
from typing import Any, get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from actmodels.ranges import Axes, Range
from pipeline.parameters.schema import Sweep
from tests.samples import MODELS, sample_trial
from tune.trials.search import SEARCHES, OptunaSearch, Point, RandomSearch, Search

DA, AA = MODELS
AXES = {"width": [8, 16, 32], "dropout": [0.0, 0.1], "learning_rate": [0.1, 0.01, 0.001]}
RANGES = {
    "learning_rate": Range(0.0001, 0.1, "log"),
    "dropout": Range(0.0, 0.3, step=0.1),
    "width": Range(8, 32),
    "init": ["xavier", "normal"],
}


@given(
    low=st.floats(1e-6, 1e6),
    width=st.floats(1e-6, 1e6),
    share=st.floats(0, 1, exclude_max=True),
    scale=st.sampled_from(["linear", "log"]),
)
def test_a_value_is_within_its_range(low: float, width: float, share: float, scale: Any) -> None:
    drawn = Range(low, low + width, scale)
    assume(not drawn.problems())
    for value in (drawn.at(share), drawn.rounded(low), drawn.rounded(low + width)):
        assert drawn.min <= value <= drawn.max


@pytest.mark.parametrize("axes", [AXES, RANGES])
def test_random_points_are_distinct_and_drawn_from_the_seed(axes: Axes) -> None:
    drawn = RandomSearch(5, 1).draw(AA, axes)
    assert len({tuple(point.values()) for point in drawn}) == 5
    assert drawn == RandomSearch(5, 1).draw(AA, axes) != RandomSearch(5, 2).draw(AA, axes)
    assert drawn != RandomSearch(5, 1).draw(DA, axes)
    more = RandomSearch(6, 1).draw(AA, axes)
    assert [point for point in more if point in drawn] == drawn  # in the grid's order
    every = Search(None, 1).draw(AA, AXES)
    assert RandomSearch(99, 1).draw(AA, AXES) == every and len(every) == 18


@pytest.mark.parametrize(
    ("axis", "values", "middle"),
    [
        (Range(1, 4), {1, 2, 3, 4}, 2.5),
        (Range(2, 10, step=4), {2, 6, 10}, 6),
        (Range(0.1, 0.4, step=0.1), {0.1, 0.2, 0.3, 0.4}, 0.25),
        (Range(1, 3, "log"), {1, 2, 3}, 2),
        (Range(100, 1_000_000, "log"), None, 10_000),
        (Range(0.001, 0.1, "log"), None, 0.01),
        (Range(-1.0, 1.0), None, 0.0),
    ],
)
def test_values_are_spread_over_the_scale_of_a_range(
    axis: Range, values: set[float] | None, middle: float
) -> None:
    points = list(islice(Search(None, 1).shuffled(AA, {"x": axis}), 400))
    drawn = [point["x"] for point in points]
    assert len(set(drawn)) == len(drawn) and all(axis.min <= x <= axis.max for x in drawn)
    assert all(type(x) is type(axis.min) and len(repr(x)) < 10 for x in drawn)
    assert values is None or set(drawn) == values
    below = sum(x < middle for x in drawn)
    assert abs(below / len(drawn) - 0.5) < (0.06 if values is None else 0.17), below


def searched(axes: Axes, seed: int, score: Callable[[Point], float], trials: int) -> list[Any]:
    """Return the points that Optuna proposes, with their scores; the sixth is not finished."""
    scores: list[tuple[Point, float | None]] = []
    for number in range(trials):
        point = OptunaSearch(None, seed, axes).propose(AA, scores)
        assert list(point) == list(axes) and all(point != other for other, _ in scores)
        scores.append((point, None if number == 6 else score(point)))
    return scores


def test_optuna_finds_the_best_point_early_and_repeats_none() -> None:
    def score(point: Point) -> float:
        return float(point["width"] / 32 - point["dropout"] + point["learning_rate"])

    best = {"learning_rate": 0.1, "dropout": 0.0, "width": 32}
    found = [[p for p, _ in searched(AXES, seed, score, 18)].index(best) for seed in range(8)]
    assert sum(found) / len(found) < 9, found
    assert get_args(Sweep.model_fields["search"].annotation) == tuple(SEARCHES)
    one = OptunaSearch(None, 1, {"width": [8]})
    assert (one.propose(AA, []), one.limit) == ({"width": 8}, 1)


def test_optuna_proposes_from_ranges_what_scored_well() -> None:
    def score(point: Point) -> float:
        return float(-abs(point["width"] - 20) / 24 - point["dropout"])

    scores = searched(RANGES, 1, score, 40)
    assert scores == searched(RANGES, 1, score, 40)
    for point, _ in scores:
        assert 0.0001 <= point["learning_rate"] <= 0.1 and type(point["width"]) is int
        assert point["dropout"] in (0.0, 0.1, 0.2, 0.3)
    means = [sum(s or 0.0 for _, s in part) / 20 for part in (scores[:20], scores[20:])]
    assert means[1] > means[0] + 0.05, means


def test_a_point_replaces_settings_of_all_parts() -> None:
    point = {"learning_rate": 0.3, "width": 5, "oov_std": 0.7}
    assert sample_trial(AA).with_settings(point) == sample_trial(AA, **point)
