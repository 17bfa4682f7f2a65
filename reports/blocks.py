"""What a report consists of: sections with tables, charts and widgets, as page and as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import pandas as pd

from reports.format import Cell


@dataclass(frozen=True)
class Table:
    """A tidy frame, also written as tables/NAME.csv, and how its rows are printed.

    columns: header and printed cell of each column. left: how many columns are text, not numbers.
    folded: the page hides the table behind this line. known: rows without a value in this column
    are in the file alone.
    """

    kind: ClassVar[str] = "table"
    name: str
    frame: pd.DataFrame
    columns: Mapping[str, Cell]
    caption: str = ""
    left: int = 1
    folded: str = ""
    known: str = ""

    @property
    def rows(self) -> list[list[str]]:
        """The printed cells."""
        shown = self.frame.dropna(subset=[self.known]) if self.known else self.frame
        return [[cell(row) for cell in self.columns.values()] for _, row in shown.iterrows()]


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification with its data; half: several stand in one row of a wide page."""

    kind: ClassVar[str] = "chart"
    name: str
    title: str
    spec: Mapping[str, Any]
    caption: str = ""
    half: bool = False


@dataclass(frozen=True)
class Widget:
    """A part of the page that a script draws from data; Markdown has a link to it."""

    kind: ClassVar[str] = "widget"
    name: str
    title: str
    data: Any


Part = Table | Chart | Widget
AnyPart = TypeVar("AnyPart", Table, Chart, Widget)


@dataclass(frozen=True)
class Section:
    """What stands below a heading; of_run: no two runs agree on it, and report.md is without it."""

    title: str
    parts: Sequence[Part]
    caption: str = ""
    of_run: bool = False

    @property
    def id(self) -> str:
        """The name of the section in addresses."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


@dataclass(frozen=True)
class Tile:
    """One number of the first screen; `run` is a note on which no two runs agree."""

    label: str
    value: str
    note: str = ""
    run: str = ""


@dataclass(frozen=True)
class Overview:
    """The first screen: corpus, date and machine, the most important numbers, and a glossary."""

    corpus: str
    run: Sequence[str]
    tiles: Sequence[Tile]
    charts: Sequence[Chart]
    glossary: Mapping[str, str]


@dataclass(frozen=True)
class Report:
    """Everything that is written: see render.py."""

    title: str
    overview: Overview
    sections: Sequence[Section] = field(default_factory=list)

    @property
    def charts(self) -> list[Chart]:
        """All charts, in order."""
        return [*self.overview.charts, *self.parts(Chart)]

    def parts(self, kind: type[AnyPart]) -> list[AnyPart]:
        """Return all parts of a kind below the first screen, in order."""
        parts = (part for section in self.sections for part in section.parts)
        return [part for part in parts if isinstance(part, kind)]
