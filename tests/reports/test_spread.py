import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from actmodels.registry import MODELS
from reports.spread import (
    MINUS,
    Gap,
    Interval,
    Spread,
    follows,
    holm_level,
    paired,
    sampling_error,
    setting,
    signed,
    t_quantile,
    title,
    whole,
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


def test_wording_of_changes() -> None:
    assert Spread(-0.5, 0.25, 3).change() == f"{MINUS}0.50 ± 0.25"
    assert Spread(0.5, None, 1).change() == "+0.50"
    assert follows(Spread(0.5, 0.1, 3)) == "grow with"
    assert follows(Spread(-0.5, 0.1, 3)) == "shrink with"
    assert follows(Spread(0.5, 0.3, 3)) == follows(Spread(0.5, None, 1)) == "do not clearly follow"


def test_one_value_has_no_spread() -> None:
    spread = Spread.of([0.827])
    assert spread.sd is None and not spread.clear()
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


@pytest.mark.parametrize(
    ("values", "clear"), [([1.5, 2.5, 3.5], True), ([1.4, 2.4, 3.4], False), ([2], False)]
)
def test_a_clear_difference_is_beyond_students_interval(values: list[float], clear: bool) -> None:
    # sd 1 over three: standard error 0.577, times 4.303 is 2.484
    assert Spread.of(values).clear() is clear
    assert Spread.of([-value for value in values]).clear() is clear


def test_quantiles_of_a_printed_table() -> None:
    found = [round(t_quantile(freedom), 3) for freedom in (1, 2, 4, 10, 120)]
    assert found == [12.706, 4.303, 2.776, 2.228, 1.980]


def test_the_gap_of_unpaired_means() -> None:
    """Welch: variances 1 and 4 of means with 8 and 3 degrees of freedom: 25 / (1/8 + 16/3)."""
    gap = Gap.of(Spread(9, 3, 9), Spread(2, 4, 4))
    assert (gap.mean, gap.error) == (7, pytest.approx(math.sqrt(5)))
    assert gap.high - 7 == pytest.approx(math.sqrt(5) * t_quantile(25 / (1 / 8 + 16 / 3)))
    assert gap.clear() and not Gap.of(Spread(7, 3, 9), Spread(2, 4, 4)).clear()
    alone = Gap.of(Spread(9, 3, 9), Spread(2, None, 1))
    assert alone == Gap(7, 7, 7, None) and not alone.clear()
    same = Spread(0.2, 0.0, 3)
    assert Gap.of(Spread(0.3, 0.0, 3), same).clear() and not Gap.of(same, same).clear()


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_of_twenty_differences_without_any_effect_one_looks_clear(seeds: int) -> None:
    """Two standard errors called 29 % of them clear with two seeds, 18.5 % with three."""
    draws = np.random.default_rng(seeds)
    alike = [Spread.of(values) for values in draws.normal(size=(4000, seeds))]
    paired_ = np.mean([spread.clear() for spread in alike])
    unpaired = np.mean([Gap.of(*two).clear() for two in pairwise(alike)])
    assert 0.04 < paired_ < 0.06  # three standard errors of 4000 draws are 1 %
    assert unpaired < 0.06


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


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("adaptive_attention", "Adaptive Attention"),
        ("iterative_attention", "Iterative Attention"),
        ("lstm_encoders", "LSTM Encoders"),
        ("nti_tree_matching", "NTI Tree Matching"),
        ("spinn_pi", "SPINN-PI"),
        ("decomposable_intra_attention", "Decomposable Intra-Attention"),
        ("word_by_word_attention", "Word-by-Word Attention"),
        ("conditional_encoding", "Conditional Encoding"),
        ("adaptive_attention_fixed_steps", "Adaptive Attention, fixed steps"),
        ("adaptive_attention_target_steps", "Adaptive Attention, target steps"),
        ("iterative_attention_ponder_net", "Iterative Attention, PonderNet"),
        ("adaptive_attention_dact", "Adaptive Attention, DACT"),
        ("adaptive_attention_supervised_act", "Adaptive Attention, supervised ACT"),
        ("decomposable_attention_as_published", "Decomposable Attention, as published"),
    ],
)
def test_titles(model: str, said: str) -> None:
    assert title(model) == said


def test_every_model_has_a_title_of_its_own() -> None:
    assert len({title(model) for model in MODELS}) == len(MODELS)


def test_what_a_stage_stored() -> None:
    assert Spread.stored(0.1 + 0.2, 0.02, 3) == Spread(0.3, 0.02, 3)
    assert Spread.stored(0.5, math.nan, 1) == Spread(0.5, None, 1)


@pytest.mark.parametrize(
    ("mean", "clear"), [(-0.02, True), (0.02, True), (0.01, False), (0, False)]
)
def test_an_interval_is_clear_if_it_leaves_out_zero(mean: float, clear: bool) -> None:
    # 4.303, Student's with two degrees of freedom, times .003 is .0129
    found = Interval.around(mean, 0.003, 2)
    assert found.high - mean == pytest.approx(0.01291, abs=1e-5)
    assert found.clear() is clear is not (found.low <= 0 <= found.high)
    assert (found.above(), found.below()) == (clear and mean > 0, clear and mean < 0)
    assert not Interval(mean, found.low, found.high, None).clear()


def test_p_of_a_printed_table() -> None:
    # t = 4.303 and 9.925 with two degrees of freedom: 5 % and 1 %
    assert Interval.around(4.303, 1, 2).p == pytest.approx(0.05, abs=1e-5)
    assert Interval.around(-9.925, 1, 2).p == pytest.approx(0.01, abs=1e-5)
    assert Interval.around(1, 0, 2).p == 0 and Interval.around(0, 0, 2).p == 1


def test_a_level_asks_for_more() -> None:
    found = Interval.around(0.02, 0.004, 2)  # t = 5: p = 0.038
    assert found.clear() and not found.clear(0.025) and not found.above(0.025)
    assert follows(Spread(5, math.sqrt(3), 3)) == "grow with"
    assert follows(Spread(5, math.sqrt(3), 3), 0.025) == "do not clearly follow"


@pytest.mark.parametrize(
    ("ps", "clear"),
    [
        ([], 0),
        ([0.04], 1),
        ([0.06], 0),
        # Holm's: .05 / 4, .05 / 3, .05 / 2, .05
        ([0.005, 0.01, 0.03, 0.04], 2),
        ([0.04, 0.01, 0.02, 0.015], 4),
        ([0.013, 0.014, 0.015, 0.016], 0),
        ([0.0, 0.0, 0.2], 2),
    ],
)
def test_holms_level(ps: list[float], clear: int) -> None:
    level = holm_level(ps)
    assert sum(p <= level for p in ps) == clear


def test_an_interval_in_points() -> None:
    assert Interval(-0.021, -0.04, 0.003, 0.09).points() == f"{MINUS}2.10 ({MINUS}4.00 to +0.30)"


@pytest.mark.parametrize(
    ("value", "said"), [(62.4, "62"), (-15.2, f"{MINUS}15"), (-0.2, "0"), (0.0, "0")]
)
def test_whole_numbers(value: float, said: str) -> None:
    assert whole(value) == said
