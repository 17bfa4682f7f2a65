"""The files of a run are read together; one that is missing, or of another run, is named."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from actmodels.config import setting_types
from actmodels.errors import ArtefactError
from actmodels.records import EpochRecord
from actmodels.rows.pairs import EpochTime
from actmodels.sequences import pondering
from reports.stored.artefacts import HISTORY, Artefacts, load
from reports.stored.reading import types
from reports.studies.graves.tasks import BYTE_KINDS
from reports.studies.nse.runs import nse_runs
from tests.reports.conftest import GATED, STORED, Edit, Row, settle

FILES = sorted(path.relative_to(STORED).as_posix() for path in STORED.rglob("*.*"))
AA = "adaptive_attention"
Change = Callable[[Row], Row | None]


def fails(folder: Path, problem: str) -> None:
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    assert str(caught.value) == problem


def change(cells: Row | None, **place: str) -> Change:
    """New cells for the rows at a place, or their loss (None)."""

    def changed(row: Row) -> Row | None:
        if any(row[column] != cell for column, cell in place.items()):
            return row
        return None if cells is None else row | cells

    return changed


def test_what_is_loaded(artefacts: Artefacts) -> None:
    assert artefacts.models == ("decomposable_attention", AA)
    assert artefacts.ablated == AA
    assert [artefacts.halts(model) for model in artefacts.models] == [False, True]
    assert artefacts.runs(AA)["test_accuracy"].tolist() == [0.83, 0.80, 0.83]


def test_settings_are_those_of_all_models(artefacts: Artefacts) -> None:
    known = {name for model in artefacts.models for name in setting_types(model)}
    assert set(artefacts.settings) == known | {"max_epochs", "patience"}


def test_columns_may_stand_in_any_order(artefacts: Artefacts, folder: Path) -> None:
    path = folder / "sweep" / "trials.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("".join(",".join(reversed(row)) + "\n" for row in rows))
    assert load(folder).settings == artefacts.settings


def test_every_field_of_an_epoch_is_read() -> None:
    names = {f.name for f in fields(EpochRecord)}
    assert names <= set(HISTORY) | set(types(EpochTime))


def test_kinds_of_bytes_are_those_of_the_stage() -> None:
    assert set(BYTE_KINDS) == set(pondering.KINDS)


@pytest.mark.parametrize("file", FILES)
def test_each_file_is_needed(folder: Path, file: str) -> None:
    (folder / file).unlink()
    fails(folder, f"artefacts/{file} is missing; run: dvc repro {file.split('/')[0]}")


def test_a_setting_without_a_column(folder: Path) -> None:
    path = folder / "sweep" / "trials.csv"
    path.write_text(path.read_text().replace("ponder_weight", "tau"))
    fails(
        folder,
        "artefacts/sweep/trials.csv has no column ponder_weight; run: dvc repro -f -s sweep",
    )


def test_models_of_another_run(folder: Path, edit: Edit) -> None:
    edit("evaluate/results.csv", change(None, seed="3"))
    fails(
        folder,
        "artefacts/evaluate/results.csv is not of the models in retrain/trials.csv; "
        "run: dvc repro evaluate",
    )


@pytest.mark.parametrize("file", ["history", "steps", "timings"])
def test_a_run_that_diverged_may_be_lacking(folder: Path, edit: Edit, file: str) -> None:
    second = {"questions": "NE", "run": GATED, "seed": "2"}
    edit("nse/results.csv", change({"diverged": "True"}, **second))
    edit(f"nse/{file}.csv", change(None, **second))
    assert [run.diverged for run in nse_runs(load(folder), "NE")] == [0, 1, 0]


def test_a_run_that_diverged_may_have_no_steps(folder: Path, edit: Edit) -> None:
    lost = {"diverged": "True", "dev_mean_steps": "", "dev_sd_steps": "", "test_mean_steps": ""}
    edit("nse/results.csv", change(lost, questions="NE", run=GATED, seed="2"))
    settle(folder)
    run = nse_runs(load(folder), "NE")[1]
    assert run.mean_steps is not None and (run.mean_steps.n, run.test.n) == (2, 3)
