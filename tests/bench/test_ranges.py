"""Ranges of results over seeds and processors, against manual calculations."""

import pytest

from bench.ranges import measured, prediction_interval, table_rows


def test_a_range_is_a_prediction_interval_of_a_mean() -> None:
    """Sd 1, t(8) = 3.355 at 99 %: 3.355 · sqrt(1/9 + 1/3) = 2.24; a constant result has 0.5 %."""
    values = [80.0, 79.0, 81.0] * 3
    sd = (6 / 8) ** 0.5
    assert prediction_interval(values, 3, 1) == pytest.approx(
        (round(80 - 2.2369 * sd, 1), round(80 + 2.2369 * sd, 1))
    )
    assert prediction_interval([100.0] * 9, 3, 1, 100.0) == (99.5, 100.0)
    assert prediction_interval([0.2] * 9, 3, 2) == (0.19, 0.21)


def test_seeds_and_processors_have_each_their_spread() -> None:
    """Seeds differ by 2 and 4, processors by 1."""
    lines = {"native": (90.0, 92.0, 94.0), "avx2": (91.0, 93.0, 95.0)}
    runs = {
        name: [{"models": [f"m: {value} % (n = 1)"]} for value in values]
        for name, values in lines.items()
    }
    part = measured(runs, "models", 3)
    assert part["m: # % (n)"]["values"] == {name: [values] for name, values in lines.items()}
    (row,) = table_rows({"models": {"lines": part}})
    assert (row["sd over seeds"], row["sd over processors"]) == ("2.00", "0.71")
    assert row["mean and sd of all runs"] == "92.50 ± 1.87"
