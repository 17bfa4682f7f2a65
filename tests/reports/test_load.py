from pathlib import Path

import pytest

from actmodels.errors import ArtifactError
from tests.reports.conftest import edit, load_all


def test_models_are_in_file_order(folder: Path) -> None:
    data = load_all(folder)
    assert data.models == ["decomposable_attention", "adaptive_attention"]
    assert data.adaptive == ["adaptive_attention"] and data.best_on_dev == "adaptive_attention"


@pytest.mark.parametrize(
    ("place", "stage"),
    [
        ("evaluate/results.csv", "evaluate"),
        ("sweep/environment.json", "sweep"),
        ("studies/cloze/queries.json", "study@cloze"),
    ],
)
def test_a_missing_file_is_named_with_the_stage_that_writes_it(
    folder: Path, place: str, stage: str
) -> None:
    (folder / place).unlink()
    with pytest.raises(
        ArtifactError, match=rf"artifacts/{place} is missing; run: dvc repro {stage}"
    ):
        load_all(folder)


@pytest.mark.parametrize("column", ["dev_accuracy", "learning_rate"])
def test_a_missing_column_is_named(folder: Path, column: str) -> None:
    edit(folder, "sweep/trials", lambda frame: frame.drop(columns=column))
    message = f"artifacts/sweep/trials.csv has no column {column}; run: dvc repro -f -s sweep"
    with pytest.raises(ArtifactError, match=message):
        load_all(folder)


def test_evaluated_models_must_be_the_retrained_ones(folder: Path) -> None:
    edit(folder, "evaluate/results", lambda frame: frame.assign(key="other"))
    with pytest.raises(ArtifactError, match=r"keys differ from those of retrain/trials\.csv"):
        load_all(folder)


def test_text_stays_text(folder: Path) -> None:
    names = {"pair_id": "NA", "label": "entailment"}
    edit(folder, "evaluate/predictions", lambda frame: frame.assign(**names))
    edit(folder, "retrain/trials", lambda frame: frame.assign(key="0123"))
    edit(folder, "evaluate/results", lambda frame: frame.assign(key="0123"))
    data = load_all(folder)
    assert set(data["evaluate/predictions"]["pair_id"]) == {"NA"}
    assert set(data["retrain/trials"]["key"]) == {"0123"}
