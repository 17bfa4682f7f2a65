import math
from collections.abc import Callable
from typing import Any

import pytest

from reports import format as fmt


@pytest.mark.parametrize(
    ("cell", "row", "expected"),
    [
        (fmt.percent("a"), {"a_mean": 0.8265, "a_sd": 0.0035}, "82.7 ± 0.35"),
        (fmt.percent("a"), {"a_mean": 0.8265, "a_sd": math.nan}, "82.7"),
        (fmt.percent("a"), {"a": 0.5}, "50.0"),
        (fmt.number("a"), {"a_mean": 4.925, "a_sd": 0.123}, "4.92 ± 0.12"),
        (fmt.number("a", scale=100, sign=True), {"a_mean": -0.0213, "a_sd": 0.01}, "−2.13 ± 1.00"),
        (fmt.number("a", sign=True), {"a_mean": 0.001}, "0.00"),
        (fmt.number("a"), {"a": math.nan}, "–"),
        (fmt.points, {"difference": 0.01, "low": -0.02, "high": 0.04}, "+1.00 [−2.00, +4.00]"),
        (fmt.points, {"difference": math.nan, "low": 0, "high": 0}, "–"),
        (fmt.p_value(), {"p": 0.0004}, "< 0.001"),
        (fmt.p_value(), {"p": 0.51}, "0.510"),
        (fmt.p_value(), {"p": None}, "–"),
        (fmt.count("n"), {"n": 1203.0}, "1,203"),
        (fmt.count("n"), {"n": math.nan}, "–"),
        (fmt.text("t"), {"t": None}, "–"),
    ],
)
def test_a_cell_is_printed(cell: fmt.Cell, row: dict[str, Any], expected: str) -> None:
    assert cell(row) == expected


TEXTS: list[tuple[Callable[[Any], str], Any, str]] = [
    (fmt.setting, 5e-05, "0.00005"),  # as params.yaml has it
    (fmt.setting, 2.0, "2"),
    (fmt.setting, 0.1, "0.1"),
    (fmt.setting, 0.0, "0"),
    (fmt.setting, 64, "64"),
    (fmt.setting, True, "True"),
    (fmt.setting, "xavier", "xavier"),
    (fmt.settings, "ponder_weight 5e-05, steps 3", "ponder_weight 0.00005, steps 3"),
    (fmt.settings, "as set", "as set"),
    (fmt.duration, 8.44, "8.4 s"),
    (fmt.duration, 725.4, "12 min 5 s"),
    (fmt.duration, 12_000, "3 h 20 min"),
]


@pytest.mark.parametrize(("function", "value", "expected"), TEXTS)
def test_a_value_is_printed(function: Callable[[Any], str], value: Any, expected: str) -> None:
    assert function(value) == expected
