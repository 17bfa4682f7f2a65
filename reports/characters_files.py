"""What the stage `graves` stores about characters: columns, and what must hold."""

from pathlib import Path
from typing import Any

import pandas as pd

from reports.graves_tasks import CHARACTERS
from reports.reading import Kind, Source, name, number, optional_number, whole
from reports.study_files import check_once

PLACED: dict[str, Kind] = {"task": name, "run": name, "seed": whole}
READ: dict[str, Kind] = {
    **{"steps": optional_number, "ponder": optional_number},
    **{"loss": number, "entropy": number},
}
PASSAGE: dict[str, Kind] = {**PLACED, "position": whole, "byte": whole, **READ}
BYTES: dict[str, Kind] = {**PLACED, "kind": name, "bytes": whole, **READ}
LETTER, SPACE, LINE_END = "letter", "space", "line end"
# The kinds of bytes; those between which a reader would pause, as Graves has it, are BOUNDARIES.
BOUNDARIES = (SPACE, LINE_END, "sentence end", "comma, colon or semicolon")
KINDS = (LETTER, "digit", *BOUNDARIES, "markup or other mark")
Place = tuple[str, int]  # run and seed


def check_characters(
    root: Path, results: pd.DataFrame, passage: pd.DataFrame, kinds: pd.DataFrame
) -> None:
    """Both files are of the runs on characters, and have figures just where they can be.

    Args:
        results: of all of Graves' tasks; checked.
        passage, kinds: reading.csv and bytes.csv.
    """
    known = results[results["task"] == CHARACTERS]
    for file, table, column in (("reading.csv", passage, "position"), ("bytes.csv", kinds, "kind")):
        source = Source(root, "graves", file)
        if other := sorted(set(table["task"]) - {CHARACTERS}):
            raise source.damaged(f"has the task {other[0]!r}; must be {CHARACTERS}")
        for run, seed in sorted(_places(table) - _places(known)):
            raise source.damaged(f"has {_said(run, seed)}, which results.csv has not")
        check_once(source, table, "run", "seed", column)
        _check_steps(source, table, known)
    _check_kinds(Source(root, "graves", "bytes.csv"), kinds, known)
    _check_passage(Source(root, "graves", "reading.csv"), passage, known)


def _check_steps(source: Source, table: pd.DataFrame, known: pd.DataFrame) -> None:
    """Those that halt have steps, and the others none."""
    halts = dict(zip(known["run"], known["halting"] != "none", strict=True))
    for row in table.to_dict("records"):
        where = _said(row["run"], row["seed"])
        if halts[row["run"]] and not row["steps"] >= 1:
            raise source.damaged(f"{where}: steps must be a number of at least 1")
        for column in ("steps", "ponder"):
            if not halts[row["run"]] and not pd.isna(row[column]):
                raise source.damaged(f"{where}: {column} must be empty without halting")


def _check_kinds(source: Source, kinds: pd.DataFrame, known: pd.DataFrame) -> None:
    """Every run has read the same bytes, of kinds that are known."""
    if other := sorted(set(kinds["kind"]) - set(KINDS)):
        raise source.damaged(f"has the kind {other[0]!r}; must be one of {'; '.join(KINDS)}")
    for run, seed in sorted(_places(known) - _places(kinds)):
        raise source.damaged(f"lacks {_said(run, seed)}, which results.csv has")
    first: dict[Any, Any] = {}
    for place, rows in kinds.groupby(["run", "seed"], sort=False):
        counts = dict(zip(rows["kind"], rows["bytes"], strict=True))
        first = first or counts
        if counts != first or min(counts.values()) < 1:
            raise source.damaged(
                f"{_said(*place)}: bytes of each kind must be at least 1, and the same for all"
            )


def _check_passage(source: Source, passage: pd.DataFrame, known: pd.DataFrame) -> None:
    """The runs that halt have read the same passage, each with one seed."""
    halting = known[known["halting"] != "none"]
    for run in dict.fromkeys(halting["run"]):
        if (seeds := passage[passage["run"] == run]["seed"].nunique()) != 1:
            raise source.damaged(f"has {seeds} seeds of {CHARACTERS}, {run}; must have one")
    first: list[int] | None = None
    for place, rows in passage.groupby(["run", "seed"], sort=False):
        if list(rows["position"]) != list(range(1, len(rows) + 1)):
            raise source.damaged(f"{_said(*place)}: position must count from 1")
        read = list(rows["byte"])
        first = first or read
        if read != first or not all(0 <= byte < 256 for byte in read):
            raise source.damaged(
                f"{_said(*place)}: byte must be 0 to 255, and the passage the same for all"
            )


def _places(table: pd.DataFrame) -> set[Place]:
    return set(zip(table["run"], table["seed"], strict=True))


def _said(run: object, seed: object) -> str:
    return f"seed {seed} of {CHARACTERS}, {run}"
