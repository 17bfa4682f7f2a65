from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from reports.artefacts import load
from tests.reports.conftest import Edit, Row

AA = "adaptive_attention"


def fails(folder: Path, problem: str) -> None:
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    assert str(caught.value) == problem


def test_comparisons_of_another_run(folder: Path, edit: Edit) -> None:
    edit("evaluate/paired.csv", lambda r: None if r["model"] == AA else r)
    fails(
        folder,
        "artefacts/evaluate/paired.csv compares lexicalised_classifier; must compare "
        "adaptive_attention, lexicalised_classifier; run: dvc repro evaluate",
    )


@pytest.mark.parametrize("other", ["lstm_encoders", None])
def test_comparisons_with_no_tested_model(folder: Path, edit: Edit, other: str | None) -> None:
    edit("evaluate/paired.csv", lambda r: r | {"reference": other} if other else None)
    said = f"must have one tested model as reference, not {other or 'none'}"
    fails(folder, f"artefacts/evaluate/paired.csv {said}; run: dvc repro evaluate")


def test_a_variant_of_a_model_that_was_not_swept(folder: Path, edit: Edit) -> None:
    edit("fidelity/variants.csv", lambda r: r | {"model": r["model"].replace(AA, "lstm_encoders")})
    where = "artefacts/fidelity/variants.csv has the model lstm_encoders, which was not swept"
    fails(folder, f"{where}; run: dvc repro fidelity")


def test_a_reference_that_differs_from_itself(folder: Path, edit: Edit) -> None:
    edit("fidelity/variants.csv", lambda r: None if r["variant"] == "corrected" else r)
    fails(
        folder,
        "artefacts/fidelity/variants.csv: decomposable_attention: scrambled, its first variant, "
        "differs by -0.025; must be 0, as the others are compared with it; "
        "run: dvc repro -f -s fidelity",
    )


def test_an_interval_upside_down(folder: Path, edit: Edit) -> None:
    edit("fidelity/variants.csv", lambda r: r | {"low": "0.5"} if r["variant"] == "siblings" else r)
    where = "artefacts/fidelity/variants.csv: decomposable_attention, siblings: low is above high"
    fails(folder, f"{where}; run: dvc repro -f -s fidelity")


def test_a_variant_twice(folder: Path, edit: Edit) -> None:
    edit("fidelity/variants.csv", lambda r: r | {"variant": r["variant"].replace("raw", "unit")})
    where = "artefacts/fidelity/variants.csv: has decomposable_attention, unit vectors twice"
    fails(folder, f"{where}; run: dvc repro -f -s fidelity")


def test_a_run_without_its_time(folder: Path, edit: Edit) -> None:
    def lose(row: Row) -> Row | None:
        return None if (row["variant"], row["seed"]) == ("siblings", "2") else row

    edit("fidelity/timings.csv", lose)
    fails(
        folder,
        "artefacts/fidelity/timings.csv: has 2 runs of decomposable_attention, siblings; must be "
        "3; run: dvc repro -f -s fidelity",
    )


def test_a_time_without_its_run(folder: Path, edit: Edit) -> None:
    edit("halting/points.csv", lambda row: None if row["point"] == "steps 6" else row)
    where = "artefacts/halting/timings.csv: has 3 runs of fixed_steps, steps 6; must be 0"
    fails(folder, f"{where}; run: dvc repro -f -s halting")


def test_an_unknown_kind_of_halting(folder: Path, edit: Edit) -> None:
    edit("halting/points.csv", lambda r: r | {"kind": r["kind"].replace("ponder_net", "oracle")})
    with pytest.raises(ArtefactError, match="has the kind 'oracle'; must be one of act, fixed_st"):
        load(folder)


@pytest.mark.parametrize(
    ("file", "column", "cell", "problem"),
    [
        ("fidelity/variants.csv", "difference", "", "must be a number"),
        ("fidelity/variants.csv", "largest_p", "1.5", "must be a number between 0 and 1"),
        ("halting/points.csv", "collapsed", "3", "must be a number between 0 and 1"),
        ("evaluate/lengths.csv", "steps", "2.5", "must be a whole number"),
        ("evaluate/correlations.csv", "spearman", "-2", "must be a number between -1 and 1, or"),
    ],
)
def test_a_damaged_cell_is_named(
    folder: Path, edit: Edit, file: str, column: str, cell: str, problem: str
) -> None:
    edit(file, lambda row: row | {column: cell})
    stage, wording = file.split("/")[0], f"{column} is '{cell}'; {problem}"
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    assert str(caught.value).startswith(f"artefacts/{file}, line 2: {wording}")
    assert str(caught.value).endswith(f"; run: dvc repro -f -s {stage}")


@pytest.mark.parametrize("file", ["lengths.csv", "correlations.csv"])
def test_a_seed_without_its_steps(folder: Path, edit: Edit, file: str) -> None:
    edit(f"evaluate/{file}", lambda row: None if row["seed"] == "2" else row)
    where = f"artefacts/evaluate/{file} lacks seed 2 of {AA}, which was evaluated"
    fails(folder, f"{where}; run: dvc repro evaluate")


def test_steps_of_a_model_that_takes_none(folder: Path, edit: Edit) -> None:
    def more(row: Row) -> Row:
        return row | {"model": "decomposable_attention"} if row["steps"] == "2" else row

    edit("evaluate/lengths.csv", more)
    with pytest.raises(ArtefactError, match="has seed 1 of decomposable_attention, which took no"):
        load(folder)


def test_lengths_of_other_pairs(folder: Path, edit: Edit) -> None:
    edit("evaluate/lengths.csv", lambda row: None if row["steps"] == "7" else row)
    fails(
        folder,
        f"artefacts/evaluate/lengths.csv: {AA}, seed 2: has 75 pairs where results.csv has 100; "
        "run: dvc repro -f -s evaluate",
    )


def test_a_mean_of_steps_that_results_contradict(folder: Path, edit: Edit) -> None:
    edit("evaluate/lengths.csv", lambda r: r | {"steps": "3"} if r["steps"] == "2" else r)
    fails(
        folder,
        f"artefacts/evaluate/lengths.csv: {AA}, seed 1: 4.25 mean steps where results.csv has 4.0; "
        "run: dvc repro -f -s evaluate",
    )


def test_a_correlation_with_something_unknown(folder: Path, edit: Edit) -> None:
    edit("evaluate/correlations.csv", lambda row: row | {"steps_against": "mood"})
    where = "artefacts/evaluate/correlations.csv: steps_against is 'mood'; must be one of "
    fails(folder, f"{where}mean_length, depth; run: dvc repro -f -s evaluate")


def test_a_correlation_twice(folder: Path, edit: Edit) -> None:
    edit("evaluate/correlations.csv", lambda row: row | {"steps_against": "depth"})
    where = f"artefacts/evaluate/correlations.csv: has {AA}, 1, depth twice"
    fails(folder, f"{where}; run: dvc repro -f -s evaluate")


def test_a_run_without_predictions(folder: Path, edit: Edit) -> None:
    edit("evaluate/predictions.csv", lambda row: None if row["seed"] == "2" else row)
    where = f"artefacts/evaluate/predictions.csv lacks seed 2 of {AA}, which was retrained"
    fails(folder, f"{where}; run: dvc repro evaluate")


def test_a_trial_without_its_epochs(folder: Path, edit: Edit) -> None:
    edit("sweep/history.csv", lambda row: None if row["key"] == "aa05" else row)
    fails(folder, "artefacts/sweep/history.csv: lacks trial aa05; run: dvc repro -f -s sweep")


def test_epochs_without_their_trial(folder: Path, edit: Edit) -> None:
    def rename(row: Row) -> Row:
        return row | {"key": "aa99"} if (row["key"], row["epoch"]) == ("aa05", "1") else row

    edit("sweep/history.csv", rename)
    where = "artefacts/sweep/history.csv: has trial aa99, which trials.csv has not"
    fails(folder, f"{where}; run: dvc repro -f -s sweep")
