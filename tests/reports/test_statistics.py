import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reports.statistics import LEVEL, holm, mean_sd, t_interval, verdicts


def test_means_are_over_the_rows_of_a_group_in_stored_order() -> None:
    frame = pd.DataFrame(
        {"model": ["b", "b", "a", "b"], "x": [1.0, 2.0, 7.0, 6.0], "y": [None, 1.0, None, 3.0]}
    )
    first, second = mean_sd(frame, ["model"], ["x", "y"]).to_dict("records")
    assert first == {
        **{"model": "b", "x_mean": 3.0, "x_sd": round(math.sqrt(7), 12), "x_n": 3},
        **{"y_mean": 2.0, "y_sd": round(math.sqrt(2), 12), "y_n": 2},
    }
    assert second["x_mean"] == 7.0 and math.isnan(second["x_sd"]) and second["x_n"] == 1
    assert math.isnan(second["y_mean"]) and second["y_n"] == 0


def test_the_interval_is_students() -> None:
    values = np.array([0.01, 0.03, 0.05])
    result = t_interval(values.mean(), values.std(ddof=1), 3)
    expected = stats.ttest_1samp(values, 0)
    low, high = expected.confidence_interval(0.95)
    assert result["p"] == pytest.approx(expected.pvalue)
    assert (result["low"], result["high"]) == (pytest.approx(low), pytest.approx(high))
    # by hand: 4.303 is the quantile with two degrees of freedom, the standard error 0.02 / √3
    assert result["high"] == pytest.approx(0.03 + 4.3027 * 0.02 / math.sqrt(3), abs=1e-5)


@pytest.mark.parametrize(("sd", "n"), [(0.0, 3), (math.nan, 1)])
def test_one_seed_and_seeds_that_agree_test_nothing(sd: float, n: int) -> None:
    for mean in (0.0, 0.2):
        result = t_interval(mean, sd, n)
        assert math.isnan(result.pop("p"))
        assert result == {"difference": mean, "low": mean, "high": mean}


def test_holm_multiplies_the_smallest_by_the_number_of_tests() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == {
        "a": 0.03,
        "b": 0.06,
        "c": 0.06,
        "d": 0.02,
    }
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


def test_holm_keeps_the_error_of_all_tests_together() -> None:
    drawn = np.random.default_rng(1).uniform(size=(2000, 8))
    wrong = np.mean([min(holm(dict(enumerate(p))).values()) <= LEVEL for p in drawn])
    assert 0.03 < wrong < LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / 2000)


def test_a_verdict_needs_a_small_p_and_a_difference() -> None:
    frame = pd.DataFrame(
        {"difference": [0.1, -0.1, 0.1, 0.1, 1e-12], "p_adjusted": [0.05, 0.01, 0.06, None, 0.0]}
    )
    assert verdicts(frame).tolist() == [
        *("significantly above", "significantly below"),
        *("not significant", "no test: one seed, or no variance", "not significant"),
    ]
