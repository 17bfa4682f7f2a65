"""Ranges on the axes of a grid in params.yaml."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_params import AA, AA_NAME, changed, load, problems, tree  # noqa: F401

RANGE: dict[str, Any] = {"min": 0, "max": 0.5}
UNORDERED = {"min": 0.4, "max": 0, "scale": "log", "step": 0.1}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("dropout", RANGE | {"max": 1.2}, ".grid.dropout.max is 1.2; must be below 1"),
        ("dropout", [RANGE | {"scal": 1}], ".dropout[0].scal is unknown; did you mean sweep.mod"),
        ("dropout", RANGE | {"step": 0}, ".grid.dropout.step is 0; must be above 0"),
        ("dropout", [RANGE, RANGE], ".grid.dropout has 2 values; must be at most 1"),
        ("dropout", UNORDERED, "must be a range with min below max, no step with scale log"),
        ("dropout", RANGE | {"scale": "log"}, "must be a range with min above 0 with scale log"),
        ("dropout", RANGE | {"step": 0.3}, "with max a whole number of steps above min"),
        ("dropout", [RANGE], ".dropout is a range; search grid needs a list; or set sweep.search"),
        ("width", {"min": 8, "max": 9.5}, ".grid.width.max is 9.5; must be a whole number"),
        ("init", RANGE, "'min': 0}; must be a list"),
    ],
)
def test_an_invalid_range_is_named(
    tree: Any,  # noqa: F811
    tmp_path: Path,
    name: str,
    value: Any,
    sentence: str,
) -> None:
    [problem] = problems(changed(tree, f"{AA}.grid.{name}", value), tmp_path)
    assert problem.startswith(f"{AA}.grid.{name}") and sentence in problem


def test_a_range_has_two_notations_and_any_number_of_points(
    tree: Any,  # noqa: F811
    tmp_path: Path,
) -> None:
    changed(tree, f"{AA}.grid.dropout", [RANGE])  # as `dvc exp run -S` can replace it
    changed(tree, f"{AA}.grid.width", {"min": 8, "max": 32})
    tree["sweep"] |= {"search": "random", "seeds": [1, 2], "trials": 5000}
    grid = load(tree, tmp_path).sweep.models[AA_NAME].grid
    assert (grid["dropout"], grid["width"]) == (RANGE, {"min": 8, "max": 32})
    limit = "must be at most 5,000 with search random"  # 10,000 with two seeds
    assert problems(changed(tree, "sweep.trials", 5001), tmp_path) == [
        f"sweep.trials is 5001; {limit}"
    ]
