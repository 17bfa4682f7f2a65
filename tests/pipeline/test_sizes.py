"""Stage `sizes`: subsets, their training, and extrapolation."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from actmodels.files import write_text
from actmodels.trial_config import trial_from_dict
from pipeline import sizes
from pipeline.statistics.paired import Hits
from tests.pipeline.trials.test_study import DA, params
from tests.samples import sample_trial

STUDY = {"models": [DA], "halvings": 2, "n_bootstrap": 100}


def test_subsets_have_as_many_updates_as_the_retrained_trial(folder: Path) -> None:
    best = sample_trial(DA, dropout=0.3).as_dict()
    stored = {DA: {"config": best}}
    write_text(folder / "artifacts" / "select_best" / "best.json", json.dumps(stored))
    limits = {"seeds": [4, 5], "max_epochs": 13, "patience": 5}
    runs = sizes.plan(params(sizes=STUDY, retrain=limits), 9001)
    result = [(r.config.training.train_pairs, r.config.max_epochs, r.config.patience) for r in runs]
    assert result[::2] == result[1::2] == [(2250, 52, 20), (4500, 26, 10), (0, 13, 5)]
    assert [run.labels["pairs"] for run in runs[::2]] == [2250, 4500, 9001]
    assert [run.config.seed for run in runs] == [4, 5] * 3
    # as stage `retrain` makes it, so that they share a key
    retrained = replace(trial_from_dict(best), max_epochs=13, patience=5, seed=4)
    assert runs[4].config == retrained


def simulated() -> dict[int, Hits]:
    """Errors of .1 + .2 (n / 16000)^-.5 on 4,000 pairs, the same for three seeds."""
    hard = (np.arange(4000) + 0.5) / 4000
    return {
        n: np.tile(hard >= 0.1 + 0.2 * (n / 16000) ** -0.5, (3, 1)).astype(float)
        for n in (1000, 2000, 4000, 8000, 16000)
    }


def test_extrapolation() -> None:
    study = params(sizes=STUDY | {"pairs": 64000}).sizes
    (whole, without), points = sizes.extrapolated(simulated(), np.arange(4000), study)
    assert whole["accuracy"] == pytest.approx(0.8, abs=0.002) and whole["pairs"] == 64000
    assert whole["exponent"] == pytest.approx(0.5, abs=0.02) and not whole["bounded"]
    assert without["without_largest"] and (without["sizes"], without["pairs"]) == (4, 16000)
    assert without["low"] < 0.7 < without["high"] and not without["wide"]
    scale = whole["floor"] + whole["scale"] * 64000 ** -whole["exponent"]
    assert 1 - whole["accuracy"] == pytest.approx(scale)  # the numbers are those of the formula
    assert (points[0]["pairs"], points[-1]["pairs"]) == (1000, 64000)
    assert points[-1]["accuracy"] == whole["accuracy"]


@pytest.mark.parametrize(("count", "laws"), [(0, 0), (3, 0), (4, 1), (5, 2)])
def test_a_law_needs_four_sizes(count: int, laws: int) -> None:
    hits = dict(list(simulated().items())[:count])
    study = params(sizes=STUDY | {"max_ci_width": 1e-4}).sizes
    rows, points = sizes.extrapolated(hits, np.arange(4000), study)
    assert len(rows) == laws and bool(points) == bool(laws)
    assert all(row["wide"] for row in rows)


def test_sizes_near_chance_are_not_fitted() -> None:
    row = {"model": DA, "epochs": 2, "cut_off": True, "dev_accuracy": 0.5}
    rows = [row | {"pairs": n, "test_accuracy": a} for n, a in ((50, 0.39), (100, 0.4))]
    points = sizes.point_rows([*rows, rows[0] | {"cut_off": False}], 0.6)
    expected = [(50, 2, False, 0.5), (100, 1, True, 1.0)]
    assert [(p["pairs"], p["seeds"], p["fitted"], p["cut_off"]) for p in points] == expected
