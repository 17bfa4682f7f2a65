import math

import pandas as pd
import pytest

from reports.spread import (
    MINUS,
    Spread,
    difference_error,
    paired,
    sampling_error,
    setting,
    signed,
    title,
)


def test_mean_and_sample_sd_by_hand() -> None:
    # 2, 4, 9: mean 5, squares 9 + 1 + 16 = 26, 26 / (3 - 1) = 13
    spread = Spread.of([2, 4, 9])
    assert spread == Spread(5.0, round(math.sqrt(13), 12), 3)
    assert spread.plain() == "5.00 ± 3.61"


def test_wording_of_shares_and_points() -> None:
    spread = Spread.of([0.82, 0.83, 0.84])
    assert spread.percent() == "83.0 ± 1.00"
    assert spread.points() == "+83.00 ± 1.00"
    assert spread.over() == "sd over 3 seeds"


def test_one_value_has_no_spread() -> None:
    spread = Spread.of([0.827])
    assert spread.sd is None and not spread.clear
    assert spread.percent() == "82.7"
    assert spread.over() == "n = 1, no spread"


def test_a_diverged_loss_has_no_spread_and_no_error() -> None:
    spread = Spread.of([1.0, math.inf])
    assert spread.mean == math.inf and spread.sd is not None and math.isnan(spread.sd)


@pytest.mark.parametrize(
    ("value", "wording"),
    [(0.5, "+0.50"), (-0.5, f"{MINUS}0.50"), (0.004, "0.00"), (-0.004, "0.00")],
)
def test_signs(value: float, wording: str) -> None:
    assert signed(value) == wording


def test_pairs_are_matched_by_seed_and_not_by_row() -> None:
    ours = pd.DataFrame({"seed": [1, 2], "accuracy": [0.8, 0.9]})
    theirs = pd.DataFrame({"seed": [2, 1], "accuracy": [0.7, 0.7]})
    # 0.1 and 0.2: mean 0.15, sd 0.1 / sqrt(2)
    assert paired(ours, theirs) == Spread(0.15, round(0.1 / math.sqrt(2), 12), 2)


def test_equal_values_differ_by_nothing() -> None:
    table = pd.DataFrame({"seed": [1, 2, 3], "accuracy": [0.1 + 0.2, 0.82, 1 / 3]})
    shifted = table.assign(accuracy=[0.3, 0.82, 1 / 3])
    assert paired(table, shifted).mean == 0


@pytest.mark.parametrize(("values", "clear"), [([1, 2, 3], True), ([0, 1, 2], False), ([2], False)])
def test_a_clear_difference_is_beyond_two_standard_errors(values: list[float], clear: bool) -> None:
    # sd 1 over three: standard error 0.577, twice that 1.155
    assert Spread.of(values).clear is clear
    assert Spread.of([-value for value in values]).clear is clear


def test_standard_error_of_a_difference() -> None:
    assert difference_error(Spread(0, 3, 9), Spread(0, 4, 4)) == pytest.approx(math.sqrt(1 + 4))
    assert difference_error(Spread(0, 3, 9), Spread(0, None, 1)) is None


def test_sampling_error_of_one_run_on_snli() -> None:
    assert 100 * sampling_error(0.85, 9824) == pytest.approx(0.36, abs=0.001)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("5e-05", "0.00005"),
        ("0.001", "0.001"),
        ("64", "64"),
        ("xavier", "xavier"),
        ("True", "True"),
    ],
)
def test_settings_as_a_reader_writes_them(cell: str, shown: str) -> None:
    assert setting(cell) == shown


def test_title() -> None:
    assert title("adaptive_attention") == "Adaptive Attention"
