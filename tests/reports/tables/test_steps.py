import csv
import io
import math
from pathlib import Path

import pytest

from reports.stored.artefacts import Artefacts, load
from reports.tables.sweep import (
    ponder_weights,
    steps_by_epoch,
    steps_csv,
    training_sentence,
    weighed_models,
)
from tests.reports.conftest import Edit, Row

DA, AA = "decomposable_attention", "adaptive_attention"


def test_ponder_weights_run_from_small_to_large(artefacts: Artefacts) -> None:
    assert ponder_weights(artefacts, AA) == ["5e-05", "0.001"]
    assert ponder_weights(artefacts, DA) == []
    assert weighed_models(artefacts) == (AA,)


def test_means_and_sds_over_trials_by_hand(folder: Path, edit: Edit) -> None:
    def vary(row: Row) -> Row:
        own = {"aa05": ("4.0", "3.0"), "aa06": ("6.0", "4.0")}.get(row["key"])
        return row if own is None else row | {"train_mean_steps": own[0], "train_sd_steps": own[1]}

    edit("sweep/history.csv", vary)
    first, *_, last = steps_by_epoch(load(folder), AA)
    assert (first.ponder_weight, first.epoch, first.trials) == ("5e-05", 1, 2)
    assert (first.train_mean, first.train_sd, first.dev_mean, first.dev_sd) == (
        9.0,
        0.75,
        9.0,
        0.75,
    )
    # means 4 and 6; sds 3 and 4: sqrt((9 + 16) / 2)
    assert (last.ponder_weight, last.epoch) == ("0.001", 3)
    assert last.train_mean == 5.0
    assert last.train_sd == pytest.approx(math.sqrt(12.5), abs=1e-12)


def test_an_epoch_that_one_trial_did_not_reach(folder: Path, edit: Edit) -> None:
    edit("sweep/history.csv", lambda r: None if (r["key"], r["epoch"]) == ("aa06", "3") else r)
    last = steps_by_epoch(load(folder), AA)[-1]
    assert (last.epoch, last.trials) == (3, 1)


def test_every_weighed_model_is_there(many: Artefacts) -> None:
    # a copy with fixed steps has no ponder weight, PonderNet has
    assert weighed_models(many) == (AA, "adaptive_attention_ponder_net")


def test_where_steps_end(artefacts: Artefacts) -> None:
    assert training_sentence(artefacts, AA) == (
        "Adaptive Attention: after the last epoch mean steps are 9.00 per dev pair (sd 0.75) at "
        "ponder weight 0.00005 and 4.00 per dev pair (sd 0.75) at ponder weight 0.001."
    )


def test_csv(artefacts: Artefacts) -> None:
    rows = list(csv.DictReader(io.StringIO(steps_csv(artefacts))))
    assert len(rows) == 2 * 3
    assert rows[0] == {
        **{"model": AA, "ponder_weight": "5e-05", "epoch": "1", "trials": "2"},
        **{"train_mean_steps": "9.0", "train_sd_steps": "0.75"},
        **{"dev_mean_steps": "9.0", "dev_sd_steps": "0.75"},
    }


def test_one_ponder_weight_is_no_comparison(folder: Path, edit: Edit) -> None:
    edit("sweep/trials.csv", lambda row: row | {"ponder_weight": row["ponder_weight"] and "0.1"})
    artefacts = load(folder)
    assert weighed_models(artefacts) == ()
    assert len(steps_csv(artefacts).splitlines()) == 1
