"""What the stage `graves` stores: columns, and what must hold."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd

from reports.graves_tasks import CHARACTERS, TASKS
from reports.reading import Kind, Source, flag, name, number, optional_number, share, whole
from reports.study_files import check_once

PLACE = ("task", "run", "seed")
PLACED: dict[str, Kind] = {"task": name, "run": name, "seed": whole}
STEPS = ("dev_mean_steps", "dev_sd_steps")
COST = "dev_ponder_cost"  # none where steps are free: fixed ones
RESULTS: dict[str, Kind] = {
    **PLACED,
    **{"halting": name, "ponder_weight": optional_number, "key": name, "parameters": whole},
    **{"epochs": whole, "best_epoch": whole, "diverged": flag},
    **{"dev_error": share, "dev_loss": optional_number},
    **dict.fromkeys((*STEPS, COST), optional_number),
}
DIFFICULTY: dict[str, Kind] = {
    **PLACED,
    **{"difficulty": whole, "instances": whole, "asked": whole, "error": optional_number},
    **{"mean_steps": optional_number, "ponder_cost": optional_number},
}
HISTORY: dict[str, Kind] = {
    **PLACED,
    **{"epoch": whole, "train_loss": optional_number, "dev_loss": optional_number},
    **{"dev_error": share, "dev_mean_steps": optional_number},
}
TIMINGS: dict[str, Kind] = {**PLACED, "epochs": whole, "seconds": number}
NONE, ACT = "none", "act"
HALTINGS = (NONE, ACT, "target_steps", "fixed_steps")
Place = tuple[str, str, int]


def check_graves(
    root: Path,
    results: pd.DataFrame,
    difficulty: pd.DataFrame,
    history: pd.DataFrame,
    timings: pd.DataFrame,
) -> None:
    """All files are of the same runs, and figures are there just where they can be."""
    _check_results(Source(root, "graves", "results.csv"), results)
    others = (
        ("difficulty.csv", difficulty, ("difficulty",)),
        ("history.csv", history, ("epoch",)),
        ("timings.csv", timings, ()),
    )
    for file, table, more in others:
        source = Source(root, "graves", file)
        wanted = results
        if file == "difficulty.csv":
            wanted = results[results["task"] != CHARACTERS]
            if CHARACTERS in set(table["task"]):
                raise source.damaged(f"has {CHARACTERS}; they have no difficulty")
        _check_runs(source, table, wanted)
        check_once(source, table, *PLACE, *more)
    _check_difficulty(Source(root, "graves", "difficulty.csv"), difficulty, results)
    _check_best(Source(root, "graves", "history.csv"), history, results)


def _check_results(source: Source, results: pd.DataFrame) -> None:
    for column, known in (("task", (*TASKS, CHARACTERS)), ("halting", HALTINGS)):
        if unknown := sorted(set(results[column]) - set(known)):
            raise source.damaged(
                f"has the {column} {unknown[0]!r}; must be one of {', '.join(known)}"
            )
    check_once(source, results, *PLACE)
    for (task, run), rows in results.groupby(["task", "run"], sort=False):
        for column in ("halting", "ponder_weight", "parameters"):
            if rows[column].nunique(dropna=False) > 1:
                raise source.damaged(f"{task}, {run}: {column} must be the same for all seeds")
        halting, weight = str(rows["halting"].iloc[0]), rows["ponder_weight"].iloc[0]
        if halting == ACT and pd.isna(weight):
            raise source.damaged(f"{task}, {run}: has no ponder_weight; {ACT} must have one")
        if halting == NONE and not pd.isna(weight):
            raise source.damaged(f"{task}, {run}: has a ponder_weight; must be empty without ACT")
    _check_steps(source, results, results, STEPS, COST)


def _check_steps(
    source: Source,
    table: pd.DataFrame,
    results: pd.DataFrame,
    columns: tuple[str, ...],
    cost: str,
) -> None:
    """Those that halt have steps, and the others none; a run that diverged may have lost its."""
    halting = {place: row["halting"] for place, row in _by_place(results).items()}
    lost = _diverged(results)
    for place, row in zip(_places(table), table.to_dict("records"), strict=True):
        for column in (*columns, cost):
            if halting[place] == NONE and not pd.isna(row[column]):
                raise source.damaged(f"{_said(place)}: {column} must be empty without halting")
        for column in columns:
            if halting[place] != NONE and pd.isna(row[column]) and place not in lost:
                raise source.damaged(f"{_said(place)}: {column} is empty; must be a number")


def _check_runs(source: Source, table: pd.DataFrame, results: pd.DataFrame) -> None:
    """A table has the runs of results.csv, but perhaps for such as diverged."""
    found, wanted = set(_places(table)), set(_places(results))
    for place in sorted(wanted - found - _diverged(results)):
        raise source.damaged(f"lacks {_said(place)}, which results.csv has")
    for place in sorted(found - wanted):
        raise source.damaged(f"has {_said(place)}, which results.csv has not")


def _check_difficulty(source: Source, difficulty: pd.DataFrame, results: pd.DataFrame) -> None:
    for place, row in zip(_places(difficulty), difficulty.to_dict("records"), strict=True):
        where = f"{_said(place)}, difficulty {row['difficulty']}"
        if not 0 <= row["asked"] <= row["instances"]:
            problem = f"asked is {row['asked']}; must be 0 to {row['instances']}, its instances"
            raise source.damaged(f"{where}: {problem}")
        if row["asked"] == 0 and not pd.isna(row["error"]):
            raise source.damaged(f"{where}: error must be empty where nothing is asked")
        if row["asked"] > 0 and not 0 <= row["error"] <= 1:
            raise source.damaged(f"{where}: error must be a number between 0 and 1")
    _check_steps(source, difficulty, results, ("mean_steps",), "ponder_cost")


def _check_best(source: Source, history: pd.DataFrame, results: pd.DataFrame) -> None:
    """The best epoch's error is that of results.csv."""
    errors = {
        (*place, epoch): error
        for place, epoch, error in zip(
            _places(history), history["epoch"], history["dev_error"], strict=True
        )
    }
    lost = _diverged(results)
    for place, row in _by_place(results).items():
        if place in lost:
            continue
        where, found = _said(place), errors.get((*place, row["best_epoch"]))
        if found is None:
            raise source.damaged(f"{where}: lacks epoch {row['best_epoch']}, its best")
        if abs(found - row["dev_error"]) > 1e-9:
            raise source.damaged(
                f"{where}: dev_error of its best epoch is {found!r} where results.csv has "
                f"{row['dev_error']!r}"
            )


def _places(table: pd.DataFrame) -> list[Place]:
    return list(zip(*(table[column] for column in PLACE), strict=True))


def _by_place(results: pd.DataFrame) -> dict[Place, dict[Hashable, Any]]:
    return dict(zip(_places(results), results.to_dict("records"), strict=True))


def _diverged(results: pd.DataFrame) -> set[Place]:
    return set(_places(results[results["diverged"]]))


def _said(place: Place) -> str:
    task, run, seed = place
    return f"seed {seed} of {task}, {run}"
