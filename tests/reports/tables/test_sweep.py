import json
import math
from pathlib import Path

from reports.spread import Spread
from reports.stored.artefacts import Artefacts, load
from reports.tables.sweep import (
    configurations,
    diverged,
    margin_table,
    ponder_weights,
    range_table,
    steps_by_epoch,
    top_table,
    varied,
    weighed_models,
)
from tests.reports.conftest import Edit, Row

DA, AA = "decomposable_attention", "adaptive_attention"


def test_only_settings_that_vary_are_shown(artefacts: Artefacts) -> None:
    assert varied(artefacts, DA) == ("dropout", "learning_rate")
    assert varied(artefacts, AA) == ("dropout", "ponder_weight")


def test_a_setting_of_another_model_is_none_of_its_own(folder: Path, edit: Edit) -> None:
    # Stages may fill a column for a model that has no such setting.
    count = iter(range(100))
    edit(
        "sweep/trials.csv",
        lambda r: r | ({} if r["model"] == AA else {"ponder_weight": f"{next(count)}"}),
    )
    assert varied(load(folder), DA) == ("dropout", "learning_rate")


def test_range_by_hand(artefacts: Artefacts) -> None:
    # best epochs 0.82, 0.81, 0.80, 0.79: median 0.805
    row = str(range_table(artefacts)).splitlines()[2]
    assert row == "| Decomposable Attention | 4 | 4 | 82.0 | 80.5 | 79.0 |"


def test_best_configurations_first(artefacts: Artefacts) -> None:
    rows = str(top_table(artefacts, AA)).splitlines()[2:]
    assert rows[0] == "| 1 (chosen) | 0.1 | 0.001 | 1 | 83.0 | 0.500 | 4.00 |"
    assert [row.split(" | ")[4] for row in rows] == ["83.0", "82.0", "81.0", "80.0"]


def test_margins_by_hand(artefacts: Artefacts) -> None:
    # ponder weight 0.001: 0.83 and 0.82, so 0.825 and sd 0.01 / sqrt(2)
    assert "| ponder_weight | 0.001 | 2 | 82.5 ± 0.71 | 4.00 |" in str(margin_table(artefacts, AA))
    assert "| ponder_weight | 0.00005 | 2 | 80.5 ± 0.71 | 9.00 |" in str(
        margin_table(artefacts, AA)
    )


def test_seeds_of_a_configuration_count_together(folder: Path, edit: Edit) -> None:
    # The second dropout becomes a second seed of the first.
    edit(
        "sweep/trials.csv",
        lambda row: row | {"dropout": "0.1", "seed": "2" if row["dropout"] == "0.2" else "1"},
    )
    best, worst = configurations(load(folder), DA)
    assert best.values == {"learning_rate": "0.001"}
    assert (best.trials, best.dev_accuracy.mean) == (2, 0.815)
    assert (worst.trials, worst.dev_accuracy.mean) == (2, 0.795)


def test_the_chosen_one_leads_its_equals(folder: Path, edit: Edit) -> None:
    edit("sweep/trials.csv", lambda row: row | {"dev_accuracy": "0.5"})
    path = folder / "select_best" / "best.json"
    best = json.loads(path.read_text())
    best[DA]["keys"] = ["da03"]
    path.write_text(json.dumps(best))
    groups = configurations(load(folder), DA)
    assert [group.best for group in groups] == [True, False, False, False]
    assert groups[1].values == {"dropout": "0.1", "learning_rate": "0.001"}


def test_at_most_five_are_listed(folder: Path, edit: Edit) -> None:
    def more(width: str) -> Row:
        return {"model": DA, "dev_mean_steps": "", "width": width}

    count = iter(range(100))
    edit("sweep/trials.csv", lambda row: row | more(str(next(count))))
    assert len(str(top_table(load(folder), DA)).splitlines()) == 2 + 5


def test_diverged_trials_are_counted(artefacts: Artefacts, folder: Path, edit: Edit) -> None:
    assert diverged(artefacts) == ""
    edit("sweep/trials.csv", lambda row: row | {"diverged": str(row["key"] == "aa02")})
    edit("sweep/trials.csv", lambda row: row | {"diverged": str(row["key"] in ("aa05", "da01"))})
    assert diverged(load(folder)).startswith(" 2 trials diverged")


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
    assert (first.ponder_weight, first.epoch) == ("5e-05", 1)
    assert first.train == first.dev == Spread(9.0, 0.75, 2)
    # means 4 and 6; sds 3 and 4: sqrt((9 + 16) / 2)
    assert (last.ponder_weight, last.epoch) == ("0.001", 3)
    assert last.train == Spread(5.0, round(math.sqrt(12.5), 12), 2)


def test_an_epoch_that_one_trial_did_not_reach(folder: Path, edit: Edit) -> None:
    edit("sweep/history.csv", lambda r: None if (r["key"], r["epoch"]) == ("aa06", "3") else r)
    last = steps_by_epoch(load(folder), AA)[-1]
    assert (last.epoch, last.dev.n) == (3, 1)


def test_every_weighed_model_is_there(many: Artefacts) -> None:
    # a copy with fixed steps has no ponder weight, PonderNet has
    assert weighed_models(many) == (AA, "adaptive_attention_ponder_net")


def test_one_ponder_weight_is_no_comparison(folder: Path, edit: Edit) -> None:
    edit("sweep/trials.csv", lambda row: row | {"ponder_weight": row["ponder_weight"] and "0.1"})
    artefacts = load(folder)
    assert weighed_models(artefacts) == ()
