"""The study of sizes: which parts, for how long, and what is foretold."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from actmodels.config import trial_from_dict
from actmodels.files import write_text
from pipeline import sizes
from pipeline.measures.paired import Hits
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from tests.samples import sample_trial

ROOT = Path(__file__).parents[3]
DA = "decomposable_attention"


def params(**study: object) -> Params:
    whole = load_params(ROOT / "conf" / "base.yaml").model_dump()
    whole["sizes"] |= {"models": [DA], "halvings": 2, "draws": 100} | study
    whole["retrain"] |= {"seeds": [4, 5], "max_epochs": 13, "patience": 5}
    return Params(**whole)


def test_parts_have_the_updates_of_the_whole_which_is_the_retrained_trial(folder: Path) -> None:
    best = sample_trial(DA, dropout=0.3).as_dict()
    stored = {DA: {"config": best}}
    write_text(folder / "artefacts" / "select_best" / "best.json", json.dumps(stored))
    runs = sizes.plan(params(), 9001)
    told = [(r.config.training.train_pairs, r.config.max_epochs, r.config.patience) for r in runs]
    assert told[::2] == told[1::2] == [(2250, 52, 20), (4500, 26, 10), (0, 13, 5)]
    assert [run.labels["pairs"] for run in runs[::2]] == [2250, 4500, 9001]
    assert [run.config.seed for run in runs] == [4, 5] * 3
    # as stage `retrain` makes it, so that they share a key
    retrained = replace(trial_from_dict(best), max_epochs=13, patience=5, seed=4)
    assert runs[4].config == retrained


def simulated() -> dict[int, Hits]:
    """Errors of .1 + .2 (n / 16000)^-.5 on 4,000 pairs, the same for three seeds."""
    hard = (np.arange(4000) + 0.5) / 4000
    found = {}
    for n in (1000, 2000, 4000, 8000, 16000):
        found[n] = np.tile(hard >= 0.1 + 0.2 * (n / 16000) ** -0.5, (3, 1)).astype(float)
    return found


def test_what_is_foretold() -> None:
    study = params(pairs=64000).sizes
    (whole, without), points = sizes.foretold(simulated(), np.arange(4000), study)
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
    lines, points = sizes.foretold(hits, np.arange(4000), params().sizes)
    assert len(lines) == laws and bool(points) == bool(laws)


def test_a_wide_interval_is_told() -> None:
    (whole, _), _ = sizes.foretold(simulated(), np.arange(4000), params(widest=1e-4).sizes)
    assert whole["wide"]


def test_sizes_near_chance_are_not_fitted() -> None:
    row = {"model": DA, "epochs": 2, "cut_off": True, "dev_accuracy": 0.5}
    rows = [row | {"pairs": n, "test_accuracy": a} for n, a in ((50, 0.39), (100, 0.4))]
    points = sizes.point_rows([*rows, rows[0] | {"cut_off": False}], 0.6)
    assert [(p["pairs"], p["seeds"], p["fitted"]) for p in points] == [
        *((50, 2, False), (100, 1, True))
    ]
    assert points[0]["cut_off"] == 0.5
