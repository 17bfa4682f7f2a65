"""Read one stored table or document, or say exactly what is wrong with it and which stage mends it.

Tables are read cell by cell and not by a CSV parser's guess: floats come back as the very
numbers that were written, and a bad cell is named with its line.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from actmodels.errors import ArtefactError
from actmodels.rows.columns import Correlation, Name, Share

Read = TypeVar("Read")


@dataclass(frozen=True)
class Kind:
    """What the cells of a column may be; `parse` raises a ValueError for any others."""

    parse: Callable[[str], Any]
    wording: str
    dtype: str = "object"


def _within(least: float, most: float) -> Callable[[str], float]:
    def parse(cell: str) -> float:
        value = float(cell)
        if not least <= value <= most:
            raise ValueError
        return value

    return parse


def _or_empty(parse: Callable[[str], float]) -> Callable[[str], float | None]:
    return lambda cell: parse(cell) if cell else None


def _matching(holds: Callable[[str], bool]) -> Callable[[str], str]:
    def parse(cell: str) -> str:
        if not holds(cell):
            raise ValueError
        return cell

    return parse


def one_of(*names: str) -> Kind:
    """One of these names and no other."""
    return Kind(_matching(names.__contains__), f"one of {', '.join(names)}")


text = Kind(str, "text")
name = Kind(_matching(bool), "a name")
whole = Kind(int, "a whole number", "int64")
number = Kind(float, "a number", "float64")
optional_number = Kind(_or_empty(float), "a number or empty", "float64")
share = Kind(_within(0, 1), "a number between 0 and 1", "float64")
coefficient = Kind(
    _or_empty(_within(-1 - 1e-9, 1 + 1e-9)),  # rounding may exceed 1
    "a number between -1 and 1, or empty",
    "float64",
)
flag = Kind(lambda cell: one_of("True", "False").parse(cell) == "True", "True or False", "bool")
KINDS: Mapping[Any, Kind] = {
    **{str: text, Name: name, int: whole, float: number, float | None: optional_number},
    **{Share: share, Correlation: coefficient, bool: flag},
}


def kinds(row: type) -> dict[str, Kind]:
    """The columns of a table that a dataclass declares."""
    return {field.name: KINDS[field.type] for field in fields(row)}


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
    of = {column: columns.get(column, text) for column in header}
    rows: list[list[Any]] = []
    for cells in lines:
        line = lines.line_num
        if len(cells) != len(header):
            problem = f"has {len(cells)} cells where the header has {len(header)}"
            raise source.damaged(problem, line)
        columned = zip(of.items(), cells, strict=True)
        rows.append([_cell(source, line, *column, cell) for column, cell in columned])
    return pd.DataFrame(
        {
            column: pd.Series([row[at] for row in rows], dtype=kind.dtype)
            for at, (column, kind) in enumerate(of.items())
        }
    )


def _cell(source: Source, line: int, column: str, kind: Kind, cell: str) -> Any:
    try:
        return kind.parse(cell)
    except ValueError as error:
        raise source.damaged(f"{column} is {cell!r}; must be {kind.wording}", line) from error


def read_lines(source: Source, parse: Callable[[dict[str, Any]], Read]) -> list[Read]:
    """What `parse` makes of each line of a file of JSON mappings.

    Raises:
        ArtefactError: missing; a line is not JSON, lacks a key or is of another form.
    """
    stored, found = source.read(), []
    for at, line in enumerate(stored.removesuffix("\n").split("\n") if stored else (), start=1):
        try:
            found.append(parse(json.loads(line, parse_constant=_no_number)))
        except json.JSONDecodeError as error:
            raise source.damaged(f"is not JSON ({error.msg})", at) from error
        except KeyError as error:
            raise source.damaged(f"has no key {error.args[0]}", at) from error
        except (AttributeError, TypeError, ValueError) as error:
            raise source.damaged(f"is not of the stage's form ({error})", at) from error
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"has {name}, which is no number")
