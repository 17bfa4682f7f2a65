"""Read what a stage stored: tables by the columns that their rows declare, JSON, and lines of JSON.

Whether it is what the stage wrote is known before, by DVC's digests (pipeline/running/inputs.py).
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from actmodels.errors import ArtefactError
from actmodels.rows.columns import Correlation, Name, Share

# Of a cell, by what its column's field is; an empty cell is a number that there is not.
TYPES: Mapping[Any, str] = {
    **{str: "object", Name: "object", int: "int64", bool: "bool"},
    **dict.fromkeys((float, float | None, Share, Correlation), "float64"),
}


def types(row: type) -> dict[str, str]:
    """The columns of a table that a dataclass declares."""
    return {field.name: TYPES[field.type] for field in fields(row)}


def stored(root: Path, place: str) -> Path:
    """The file `stage/name` of the folder artefacts/.

    Raises:
        ArtefactError: it is missing.
    """
    path = root / place
    if not path.is_file():
        stage = place.split("/")[0]
        raise ArtefactError(f"{root.name}/{place} is missing; run: dvc repro {stage}")
    return path


def read_table(root: Path, place: str, columns: Mapping[str, str]) -> pd.DataFrame:
    """A stored table; `columns` gives the type of those that must be there, others stay text.

    Raises:
        ArtefactError: it is missing, or a column is.
    """
    table = pd.read_csv(stored(root, place), dtype=str, keep_default_na=False)
    check_columns(root, place, table, columns)
    return pd.DataFrame(
        {name: _typed(table[name], columns.get(name, "object")) for name in table.columns}
    )


def _typed(cells: "pd.Series[Any]", kind: Any) -> "pd.Series[Any]":
    if kind == "bool":
        return cells == "True"
    if kind == "float64":  # by Python, which gives the very numbers that were written
        cells = cells.map(lambda cell: float(cell or "nan"))
    return cells.astype(kind)


def check_columns(root: Path, place: str, table: pd.DataFrame, names: Mapping[str, Any]) -> None:
    """See `read_table`."""
    if absent := [name for name in names if name not in table.columns]:
        stage = place.split("/")[0]
        raise ArtefactError(
            f"{root.name}/{place} has no column {', '.join(absent)}; run: dvc repro -f -s {stage}"
        )


def read_json(root: Path, place: str) -> dict[str, Any]:
    """A stored mapping.

    Raises:
        ArtefactError: it is missing.
    """
    content: dict[str, Any] = json.loads(stored(root, place).read_text(encoding="utf-8"))
    return content


def read_lines(root: Path, place: str) -> list[dict[str, Any]]:
    """The lines of a file of JSON mappings.

    Raises:
        ArtefactError: it is missing.
    """
    with stored(root, place).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
