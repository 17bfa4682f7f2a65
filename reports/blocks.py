"""The parts of a report: sections with tables, charts and widgets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from reports.format import Cell, title
from reports.load import Artifacts


@dataclass(frozen=True)
class Table:
    """A data frame with formatted columns, also written as tables/NAME.csv.

    Attributes:
        columns: header and cell formatter of each column.
        text_columns: number of leading columns that hold text.
        folded: the page hides the table behind this line.
        required: print only rows with a value in this column; the file has all rows.
    """

    name: str
    frame: pd.DataFrame
    columns: Mapping[str, Cell]
    caption: str = ""
    text_columns: int = 1
    folded: str = ""
    required: str = ""

    @property
    def rows(self) -> list[list[str]]:
        """Printed cells."""
        frame = self.frame.dropna(subset=[self.required] if self.required else [])
        return [[cell(row) for cell in self.columns.values()] for _, row in frame.iterrows()]


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification with its data; half-width charts share a row of the page."""

    name: str
    title: str
    spec: Mapping[str, Any]
    caption: str = ""
    half: bool = False


@dataclass(frozen=True)
class Widget:
    """Data that a script of the page displays; Markdown links to it."""

    name: str
    title: str
    data: Any


Part = Table | Chart | Widget
AnyPart = TypeVar("AnyPart", Table, Chart, Widget)


@dataclass(frozen=True)
class Section:
    """A heading with its parts; report.md omits volatile sections, which differ between runs."""

    title: str
    parts: Sequence[Part]
    caption: str = ""
    volatile: bool = False

    @property
    def id(self) -> str:
        """The anchor of the section."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


@dataclass(frozen=True)
class Tile:
    """One metric of the overview; `volatile` is a note that differs between runs."""

    label: str
    value: str
    note: str = ""
    volatile: str = ""


@dataclass(frozen=True)
class Overview:
    """The first screen: corpus, environment, main metrics, charts and a glossary."""

    corpus: str
    environment: Sequence[str]
    tiles: Sequence[Tile]
    charts: Sequence[Chart]
    glossary: Mapping[str, str]


@dataclass(frozen=True)
class Report:
    """The whole report, as `render` takes it."""

    title: str
    overview: Overview
    sections: Sequence[Section]

    @property
    def charts(self) -> list[Chart]:
        """All charts, in order."""
        return [*self.overview.charts, *self.parts(Chart)]

    def parts(self, part_type: type[AnyPart]) -> list[AnyPart]:
        """Return all parts of one type in the sections, in order."""
        parts = (part for section in self.sections for part in section.parts)
        return [part for part in parts if isinstance(part, part_type)]


@dataclass(frozen=True)
class Highlights:
    """What a study adds to the first screen, and to metrics.json."""

    tiles: Sequence[Tile]
    charts: Sequence[Chart]
    glossary: Mapping[str, str]
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class StudyReport:
    """A study's part of the report.

    Attributes:
        columns: of its files, names between blanks; a JSON file, a list, has none.
        section: makes the section from artifacts and claims.
        run: columns of timings.csv that identify a run: its group and its name in the group.
        group_title: makes the title of a group.
        claims: makes rows of reports.sections.claims.
        highlights: makes its part of the first screen; None for none.
    """

    columns: Mapping[str, str]
    section: Callable[[Artifacts, pd.DataFrame], Section]
    run: tuple[str, str]
    group_title: Callable[[Any], str] = title
    claims: Callable[[Artifacts], Iterable[dict[str, Any]]] = lambda _: ()
    highlights: Callable[[Artifacts], Highlights] | None = None


StudyReports = Mapping[str, StudyReport]  # by name, in the order of params.yaml
