import math
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


@pytest.mark.parametrize(
    ("value", "expected"),
    [(5e-05, "0.00005"), (2.0, "2"), (0.1, "0.1"), (0.0, "0"), (64, "64"), (True, "True"),
     ("xavier", "xavier")],
)  # fmt: skip
def test_a_setting_is_printed_as_params_yaml_has_it(value: Any, expected: str) -> None:
    assert fmt.setting(value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ponder_weight 5e-05, steps 3", "ponder_weight 0.00005, steps 3"), ("as set", "as set")],
)
def test_settings_of_a_run_have_no_exponents(text: str, expected: str) -> None:
    assert fmt.settings(text) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"), [(8.44, "8.4 s"), (725.4, "12 min 5 s"), (12_000, "3 h 20 min")]
)
def test_a_duration_is_printed(seconds: float, expected: str) -> None:
    assert fmt.duration(seconds) == expected
