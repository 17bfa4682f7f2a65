import json
from dataclasses import fields
from pathlib import Path

import pytest

from actmodels.config import setting_types
from actmodels.errors import ArtefactError
from actmodels.records import EpochRecord
from reports.artefacts import HISTORY, TIMINGS, Artefacts, load
from tests.reports.conftest import STORED, Edit

FILES = sorted(path.relative_to(STORED).as_posix() for path in STORED.rglob("*.*"))


def test_what_is_loaded(artefacts: Artefacts) -> None:
    assert artefacts.models == ("decomposable_attention", "adaptive_attention")
    assert artefacts.ablated == "adaptive_attention"
    assert [artefacts.halts(model) for model in artefacts.models] == [False, True]
    assert artefacts.runs("adaptive_attention")["test_accuracy"].tolist() == [0.83, 0.80, 0.83]


def test_settings_are_those_of_all_models(artefacts: Artefacts) -> None:
    known = {name for model in artefacts.models for name in setting_types(model)}
    assert set(artefacts.settings) == known | {"max_epochs", "patience"}


def test_columns_may_stand_in_any_order(artefacts: Artefacts, folder: Path) -> None:
    path = folder / "sweep" / "trials.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("".join(",".join(reversed(row)) + "\n" for row in rows))
    assert load(folder).settings == artefacts.settings


def test_a_setting_without_a_column(folder: Path) -> None:
    path = folder / "sweep" / "trials.csv"
    path.write_text(path.read_text().replace("ponder_weight", "tau"))
    with pytest.raises(
        ArtefactError, match=r"trials\.csv, line 1: has no column ponder_weight; run"
    ):
        load(folder)


def test_an_unknown_model(folder: Path, edit: Edit) -> None:
    edit("sweep/trials.csv", lambda row: row | {"model": "oracle"})
    with pytest.raises(ArtefactError, match="model is 'oracle'; must be one of decomposable_att"):
        load(folder)


def test_every_field_of_an_epoch_is_read() -> None:
    names = {f.name for f in fields(EpochRecord)}
    assert names <= set(HISTORY) | set(TIMINGS)


@pytest.mark.parametrize("file", FILES)
def test_each_file_is_needed(folder: Path, file: str) -> None:
    (folder / file).unlink()
    stage = file.split("/")[0]
    with pytest.raises(
        ArtefactError, match=f"^artefacts/{file} is missing; run: dvc repro {stage}$"
    ):
        load(folder)


def test_a_retrained_seed_that_was_not_evaluated(folder: Path, edit: Edit) -> None:
    edit("evaluate/results.csv", lambda row: None if row["seed"] == "3" else row)
    with pytest.raises(ArtefactError, match=r"lacks seed 3 of adaptive_attention, which was retr"):
        load(folder)


def test_an_evaluated_seed_that_was_not_retrained(folder: Path, edit: Edit) -> None:
    edit("retrain/trials.csv", lambda row: None if row["seed"] == "2" else row)
    with pytest.raises(
        ArtefactError, match=r"results\.csv has seed 2 of .* was not retrained; run"
    ):
        load(folder)


def test_an_ablation_that_lacks_a_seed_in_one_reading(folder: Path, edit: Edit) -> None:
    edit(
        "ablate/test.csv",
        lambda row: None if (row["seed"], row["reading"]) == ("2", "capped") else row,
    )
    with pytest.raises(ArtefactError, match=r"ablate/test\.csv lacks seed 2 of adaptive_attention"):
        load(folder)


def test_an_unknown_reading(folder: Path, edit: Edit) -> None:
    edit("ablate/dev.csv", lambda row: row | {"reading": row["reading"].replace("state", "raw")})
    with pytest.raises(ArtefactError, match="has the reading 'raw'; must be state, capped, adapt"):
        load(folder)


def test_a_sweep_with_a_missing_trial(folder: Path, edit: Edit) -> None:
    edit("sweep/trials.csv", lambda row: None if row["key"] == "da02" else row)
    with pytest.raises(
        ArtefactError, match=r"has 7 trials where summary\.json has 8; run: dvc rep"
    ):
        load(folder)


def test_a_mean_that_its_rows_contradict(folder: Path, edit: Edit) -> None:
    change = {"test_accuracy": "0.9"}
    edit("evaluate/results.csv", lambda row: row | change if row["seed"] == "1" else row)
    with pytest.raises(ArtefactError, match=r"summary\.json: test_accuracy_mean of decomposable_"):
        load(folder)


def test_a_lexicalised_classifier_that_was_not_run(folder: Path, edit: Edit) -> None:
    edit("lexicalised/results.csv", lambda row: None)
    with pytest.raises(ArtefactError, match=r"results\.csv: must have rows of one model; run: dvc"):
        load(folder)


def test_a_model_without_a_selection(folder: Path) -> None:
    path = folder / "select_best" / "best.json"
    best = json.loads(path.read_text())
    del best["adaptive_attention"]
    path.write_text(json.dumps(best))
    with pytest.raises(ArtefactError, match=r"has no model adaptive_attention; run: dvc repro sel"):
        load(folder)
