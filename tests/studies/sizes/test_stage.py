"""Study `sizes`: subsets and their training."""

import json
from dataclasses import replace
from pathlib import Path

from actmodels.files import write_text
from actmodels.trial_config import trial_from_dict
from studies.sizes.stage import plan, point_rows
from tests.pipeline.trials.test_study import DA, params
from tests.samples import sample_trial

STUDY = {"models": [DA], "halvings": 2}


def test_subsets_have_as_many_updates_as_the_retrained_trial(folder: Path) -> None:
    best = sample_trial(DA, dropout=0.3).as_dict()
    stored = {DA: {"config": best}}
    write_text(folder / "artifacts" / "select_best" / "best.json", json.dumps(stored))
    limits = {"seeds": [4, 5], "max_epochs": 13, "patience": 5}
    whole = params(sizes=STUDY, retrain=limits)
    runs = plan(whole, whole.sizes, 9001)
    result = [(r.config.training.train_pairs, r.config.max_epochs, r.config.patience) for r in runs]
    assert result[::2] == result[1::2] == [(2250, 52, 20), (4500, 26, 10), (0, 13, 5)]
    assert [run.labels["pairs"] for run in runs[::2]] == [2250, 4500, 9001]
    assert [run.config.seed for run in runs] == [4, 5] * 3
    # as stage `retrain` makes it, so that they share a key
    retrained = replace(trial_from_dict(best), max_epochs=13, patience=5, seed=4)
    assert runs[4].config == retrained


def test_a_point_has_means_over_seeds() -> None:
    row = {"model": DA, "epochs": 2, "cut_off": True, "dev_accuracy": 0.5}
    rows = [row | {"pairs": n, "test_accuracy": a} for n, a in ((50, 0.39), (100, 0.4))]
    points = point_rows([*rows, rows[0] | {"cut_off": False}])
    expected = [(50, 2, 0.5), (100, 1, 1.0)]
    assert [(p["pairs"], p["seeds"], p["cut_off"]) for p in points] == expected
