"""Differences between networks at the deepest pairs, by Welch's t test and Holm."""

import numpy as np
import pandas as pd
import pytest

from studies.multihop.differences import difference_table, welch

DACT, ACT = ("hop_attention_dact", "as set"), ("hop_attention", "as set")


def rows(model: str, accuracies: list[float], exit_rule: str | None = None) -> pd.DataFrame:
    """Return a row for each seed at 10 hops, and one of 2 hops."""
    frame = pd.DataFrame({"model": model, "run": "as set", "hops": 10, "accuracy": accuracies})
    frame = frame if exit_rule is None else frame.assign(exit=exit_rule)
    return pd.concat([frame, frame[:1].assign(hops=2, accuracy=0.0)])


def test_welch_as_worked_by_hand() -> None:
    """Means 4 and 2, variances 1 and 4, n = 3: t = 2 / sqrt(5 / 3) with 50 / 17 degrees."""
    values = {
        "a": [0.0, 2.0, 4.0],
        "b": [3.0, 4.0, 5.0],
        "c": [2.0, 2.0, 2.0],
        "d": [0.0, 2.0, 4.0],
    }
    frame = welch({name: pd.Series(each) for name, each in values.items()}, "a")
    frame = frame.set_index("name")
    assert list(frame.index) == ["b", "c", "d"]
    assert frame.loc["b", "p"] == pytest.approx(0.2210, abs=2e-4)
    assert frame["difference"].tolist() == [2.0, 0.0, 0.0]
    assert frame.loc["b", "low"] == pytest.approx(2 - 3.2187 * (5 / 3) ** 0.5, abs=1e-4)
    assert frame["p_adjusted"].tolist() == [pytest.approx(3 * frame.loc["b", "p"]), 1.0, 1.0]


def test_acts_own_unit_is_a_row_and_runs_without_variance_have_no_test() -> None:
    hops = pd.concat([rows(DACT[0], [0.9, 1.0]), rows(ACT[0], [0.3, 0.4]), rows("gru", [0.3])])
    exits = pd.concat([rows(ACT[0], [0.8, 0.7], "unit 0.5"), rows(ACT[0], [0.1, 0.2], "change 1")])
    names = pd.DataFrame([(*DACT, "DACT"), (*ACT, "ACT")], columns=["model", "run", "series"])
    table = difference_table(hops, exits, names)
    assert table is not None and [row[0] for row in table.rows] == ["ACT", "ACT, exit at unit 0.5"]
    assert table.frame["difference"].round(12).tolist() == [-0.6, -0.2]
    assert difference_table(hops[hops["model"] != DACT[0]], exits, names) is None


@pytest.mark.parametrize("spread", [0.5, 2.0])
def test_of_equal_networks_at_most_six_percent_differ(spread: float) -> None:
    """Accuracies near 98 % of five seeds, skewed: logits vary by `spread`, 500 pairs each."""
    random, found, repetitions = np.random.default_rng(62), 0, 600
    for _ in range(repetitions):
        chances = 1 / (1 + np.exp(-random.normal(4, spread, (2, 5))))
        first, second = random.binomial(500, chances) / 500
        frame = welch({"a": pd.Series(first), "b": pd.Series(second)}, "a")
        found += bool(len(frame)) and frame["p"][0] < 0.05
    # two standard errors of 600 repetitions are 0.018
    assert found / repetitions <= 0.06 + 0.018
