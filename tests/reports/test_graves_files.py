from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from reports.artefacts import load
from reports.graves import graves_runs
from tests.reports.conftest import GRAVES, Edit, Row

WEIGHT = "ponder weight 0.001"


def fails(folder: Path, file: str, problem: str) -> None:
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    where = f"artefacts/graves/{file}.csv"
    assert str(caught.value) == f"{where}: {problem}; run: dvc repro -f -s graves"


def test_nothing_was_asked_for(folder: Path, edit: Edit) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda row: None)
    assert load(folder).graves.empty


@pytest.mark.parametrize("file", ["difficulty", "history", "timings"])
def test_a_run_that_one_file_lacks(folder: Path, edit: Edit, file: str) -> None:
    def lose(row: Row) -> Row | None:
        return None if (row["run"], row["seed"]) == (WEIGHT, "2") else row

    edit(f"graves/{file}.csv", lose)
    fails(folder, file, f"lacks seed 2 of parity, {WEIGHT}, which results.csv has")


@pytest.mark.parametrize("file", ["difficulty", "history", "timings"])
def test_a_run_that_results_have_not(folder: Path, edit: Edit, file: str) -> None:
    edit("graves/results.csv", lambda r: None if (r["run"], r["seed"]) == (WEIGHT, "2") else r)
    for other in {"difficulty", "history", "timings"} - {file}:
        edit(f"graves/{other}.csv", lambda r: None if (r["run"], r["seed"]) == (WEIGHT, "2") else r)
    fails(folder, file, f"has seed 2 of parity, {WEIGHT}, which results.csv has not")


def test_a_run_that_diverged_may_have_no_difficulties(folder: Path, edit: Edit) -> None:
    def lost(row: Row) -> Row | None:
        return None if (row["run"], row["seed"]) == ("3 steps", "3") else row

    def empty(row: Row) -> Row:
        gone = {"dev_mean_steps": "", "dev_sd_steps": ""}
        return row | gone if row["diverged"] == "True" else row

    edit("graves/difficulty.csv", lost)
    edit("graves/results.csv", empty)
    run = graves_runs(load(folder), "addition")[2]
    assert run.steps is not None and (run.error.n, run.steps.n) == (3, 2)


@pytest.mark.parametrize(
    ("file", "column", "said"),
    [
        ("results", "task", "task 'chess'; must be one of parity, logic, addition, sort"),
        ("results", "halting", "halting 'chess'; must be one of none, act, target_steps, fixed_st"),
    ],
)
def test_an_unknown_name(folder: Path, edit: Edit, file: str, column: str, said: str) -> None:
    edit(f"graves/{file}.csv", lambda row: row | {column: "chess"})
    with pytest.raises(ArtefactError, match=f"^artefacts/graves/{file}.csv: has the {said}"):
        load(folder)


@pytest.mark.parametrize("file", ["results", "difficulty", "history", "timings"])
def test_a_row_twice(folder: Path, edit: Edit, file: str) -> None:
    path = folder / "graves" / f"{file}.csv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines, lines[1]]) + "\n", "utf-8")
    more = {"difficulty": ", 1", "history": ", 1"}.get(file, "")
    fails(folder, file, f"has parity, without ACT, 1{more} twice")


def one(change: Row, run: str, **place: str) -> Callable[[Row], Row]:
    """A change of the rows of one run on parity, at a place where one is given."""
    wanted = {"task": "parity", "run": run, **place}

    def changed(row: Row) -> Row:
        return row | change if all(row[k] == v for k, v in wanted.items()) else row

    return changed


@pytest.mark.parametrize(
    ("file", "change", "run", "place", "problem"),
    [
        (
            *("results", {"parameters": "7"}, WEIGHT, {"seed": "2"}),
            f"parity, {WEIGHT}: parameters must be the same for all seeds",
        ),
        (
            *("results", {"halting": "none"}, WEIGHT, {"seed": "2"}),
            f"parity, {WEIGHT}: halting must be the same for all seeds",
        ),
        (
            *("results", {"ponder_weight": ""}, WEIGHT, {}),
            f"parity, {WEIGHT}: has no ponder_weight; act must have one",
        ),
        (
            *("results", {"ponder_weight": "0.1"}, "without ACT", {}),
            "parity, without ACT: has a ponder_weight; must be empty without ACT",
        ),
        (
            *("results", {"dev_mean_steps": "1.0"}, "without ACT", {"seed": "1"}),
            "seed 1 of parity, without ACT: dev_mean_steps must be empty without halting",
        ),
        (
            *("results", {"dev_ponder_cost": "1.0"}, "without ACT", {"seed": "1"}),
            "seed 1 of parity, without ACT: dev_ponder_cost must be empty without halting",
        ),
        (
            *("results", {"dev_sd_steps": ""}, WEIGHT, {"seed": "3"}),
            f"seed 3 of parity, {WEIGHT}: dev_sd_steps is empty; must be a number",
        ),
        (
            *("difficulty", {"mean_steps": ""}, WEIGHT, {"seed": "3", "difficulty": "4"}),
            f"seed 3 of parity, {WEIGHT}: mean_steps is empty; must be a number",
        ),
        (
            *("difficulty", {"asked": "126"}, WEIGHT, {"seed": "3", "difficulty": "4"}),
            f"seed 3 of parity, {WEIGHT}, difficulty 4: asked is 126; must be 0 to 125, its "
            "instances",
        ),
        (
            *("difficulty", {"asked": "0"}, WEIGHT, {"seed": "3", "difficulty": "4"}),
            f"seed 3 of parity, {WEIGHT}, difficulty 4: error must be empty where nothing is asked",
        ),
        (
            *("difficulty", {"error": ""}, WEIGHT, {"seed": "3", "difficulty": "4"}),
            f"seed 3 of parity, {WEIGHT}, difficulty 4: error must be a number between 0 and 1",
        ),
        (
            *("difficulty", {"error": "1.5"}, WEIGHT, {"seed": "3", "difficulty": "4"}),
            f"seed 3 of parity, {WEIGHT}, difficulty 4: error must be a number between 0 and 1",
        ),
        (
            *("history", {"dev_error": "0.5"}, WEIGHT, {"seed": "1", "epoch": "3"}),
            f"seed 1 of parity, {WEIGHT}: dev_error of its best epoch is 0.5 where results.csv has "
            "0.04",
        ),
        (
            *("history", {"epoch": "9"}, WEIGHT, {"seed": "1", "epoch": "3"}),
            f"seed 1 of parity, {WEIGHT}: lacks epoch 3, its best",
        ),
    ],
)
def test_what_does_not_fit(
    folder: Path, edit: Edit, file: str, change: Row, run: str, place: Row, problem: str
) -> None:
    edit(f"graves/{file}.csv", one(change, run, **place))
    fails(folder, file, problem)


def test_a_damaged_cell_is_named(folder: Path, edit: Edit) -> None:
    edit("graves/results.csv", lambda row: row | {"dev_error": "40"})
    fails_at = "artefacts/graves/results.csv, line 2: dev_error is '40'; must be a number between 0"
    with pytest.raises(ArtefactError, match=fails_at):
        load(folder)
