"""Read one stored table or document, or say exactly what is wrong with it and which stage mends it.

Tables are read cell by cell and not by a CSV parser's guess: floats come back as the very
numbers that were written, and a bad cell is named with its line.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from actmodels.errors import ArtefactError


def text(cell: str) -> str:
    """Any text."""
    return cell


def name(cell: str) -> str:
    """Text that may not be empty."""
    if not cell:
        raise ValueError
    return cell


def whole(cell: str) -> int:
    """A whole number."""
    return int(cell)


def number(cell: str) -> float:
    """A number."""
    return float(cell)


def optional_number(cell: str) -> float | None:
    """A number or nothing."""
    return float(cell) if cell else None


def share(cell: str) -> float:
    """A number between 0 and 1."""
    value = float(cell)
    if not 0 <= value <= 1:
        raise ValueError
    return value


def coefficient(cell: str) -> float | None:
    """A correlation, or nothing where it is not defined."""
    value = float(cell) if cell else None
    if value is not None and not abs(value) <= 1 + 1e-9:  # rounding may exceed 1
        raise ValueError
    return value


def flag(cell: str) -> bool:
    """True or False."""
    if cell not in ("True", "False"):
        raise ValueError
    return cell == "True"


Kind = Callable[[str], Any]
WORDING: dict[Kind, str] = {
    name: "a name",
    whole: "a whole number",
    number: "a number",
    optional_number: "a number or empty",
    share: "a number between 0 and 1",
    coefficient: "a number between -1 and 1, or empty",
    flag: "True or False",
}
FLOATS = (number, optional_number, share, coefficient)


class Source:
    """One file of one stage; the folder `root/<stage>` bears the stage's name."""

    def __init__(self, root: Path, stage: str, file: str) -> None:
        self.path = root / stage / file
        self.stage = stage
        self.shown = f"{root.name}/{stage}/{file}"

    def damaged(self, problem: str, line: int | None = None) -> ArtefactError:
        """An error about the content; DVC is told to redo the stage even if it looks done."""
        where = self.shown if line is None else f"{self.shown}, line {line}"
        return ArtefactError(f"{where}: {problem}; run: dvc repro -f -s {self.stage}")

    def stale(self, problem: str) -> ArtefactError:
        """An error about content that belongs to another run of an earlier stage."""
        return ArtefactError(f"{self.shown} {problem}; run: dvc repro {self.stage}")

    def read(self) -> str:
        """The file's text.

        Raises:
            ArtefactError: it is missing or not UTF-8.
        """
        if not self.path.is_file():
            raise ArtefactError(f"{self.shown} is missing; run: dvc repro {self.stage}")
        try:
            return self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise self.damaged("is not UTF-8 text") from error


def read_json(source: Source, keys: tuple[str, ...] = ()) -> dict[str, Any]:
    """A stored mapping that has at least `keys`.

    Raises:
        ArtefactError: missing, not a JSON mapping, or without one of the keys.
    """
    try:
        stored = json.loads(source.read())
    except json.JSONDecodeError as error:
        raise source.damaged(f"is not JSON ({error.msg})", error.lineno) from error
    if not isinstance(stored, dict):
        raise source.damaged("must be a mapping")
    if absent := [key for key in keys if key not in stored]:
        raise source.damaged(f"has no key {', '.join(absent)}")
    return stored


def read_table(source: Source, columns: Mapping[str, Kind]) -> pd.DataFrame:
    """A stored table; `columns` gives the kind of those that must be there, others stay text.

    Raises:
        ArtefactError: missing; without a column; a row of another length; a cell of another kind.
    """
    lines = csv.reader(io.StringIO(source.read(), newline=""))
    header = next(lines, [])
    if absent := [column for column in columns if column not in header]:
        raise source.damaged(f"has no column {', '.join(absent)}", 1)
    kinds = [columns.get(column, text) for column in header]
    rows: list[list[Any]] = []
    for cells in lines:
        if len(cells) != len(header):
            problem = f"has {len(cells)} cells where the header has {len(header)}"
            raise source.damaged(problem, lines.line_num)
        rows.append(
            [
                _cell(source, lines.line_num, *part)
                for part in zip(header, kinds, cells, strict=True)
            ]
        )
    return pd.DataFrame(
        {
            column: pd.Series([row[at] for row in rows], dtype=_dtype(kind))
            for at, (column, kind) in enumerate(zip(header, kinds, strict=True))
        }
    )


def _cell(source: Source, line: int, column: str, kind: Kind, cell: str) -> Any:
    try:
        return kind(cell)
    except ValueError as error:
        raise source.damaged(f"{column} is {cell!r}; must be {WORDING[kind]}", line) from error


def _dtype(kind: Kind) -> str:
    if kind in (whole, flag):
        return "int64" if kind is whole else "bool"
    return "float64" if kind in FLOATS else "object"
