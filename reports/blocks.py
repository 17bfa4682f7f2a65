"""What a report is made of: blocks, which markdown and the page write each in their way.

Texts and cells of tables are markdown themselves, without blocks of their own in them.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Cell = str | int | float | None  # of a CSV file
DASH = "\N{EN DASH}"  # a cell of a table without a figure
FIGURES = "figures"  # the folder of the pictures beside report.md


@dataclass(frozen=True)
class Heading:
    """A heading without marks of emphasis; the report's own is of level 1."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """Paragraphs, or a list."""

    markdown: str


@dataclass(frozen=True)
class Table:
    """A table of markdown cells; the first `left` columns are text, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1

    def __str__(self) -> str:
        """A pipe table, its numbers aligned right."""
        rules = ["---" if at < self.left else "---:" for at in range(len(self.header))]
        lines = ["| " + " | ".join(cells) + " |" for cells in (self.header, rules, *self.rows)]
        return "\n".join(lines)


@dataclass(frozen=True)
class Figure:
    """A chart that a page draws and a picture shows, and what it says in words.

    spec: Vega-Lite with its data inside. A single view has the width "container", so that a page
        can fit it to the screen; `charts/look.py` gives it colours, for a page or for a picture.
    alternative: what it shows, in a sentence, for those who do not see it.
    """

    spec: dict[str, Any]
    alternative: str


@dataclass(frozen=True)
class Chart:
    """A figure: a picture `figures/NAME.png` in markdown, a living chart in the page.

    half: a panel: a wide page shows two of them side by side.
    """

    name: str
    figure: Figure
    half: bool = False


@dataclass(frozen=True)
class Island:
    """A section of the page which a script fills.

    name: of the section: its id in the page; `page/<name>.js` is its script, which finds its
        data, as JSON, in the element `data-<name>`.
    heading: of the section, also in the list of contents.
    html: what stands in the section before the script has run, with every control in it.
    data: anything that JSON can hold, small enough to be embedded.
    """

    name: str
    heading: str
    html: str
    data: Any


@dataclass(frozen=True)
class Living:
    """A part that only the page has; markdown has a link to it, of some words."""

    words: str
    island: Island


Block = Heading | Text | Table | Chart | Living


def as_markdown(blocks: Iterable[Block]) -> str:
    """The blocks as a document."""
    return "\n\n".join(map(_written, blocks)) + "\n"


def _written(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {block.text}"
        case Text():
            return block.markdown
        case Chart():
            return f"![{block.figure.alternative}]({FIGURES}/{block.name}.png)"
        case Living():
            return f"[{block.words}](index.html#{block.island.name})"
        case Table():
            return str(block)


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """CSV with `\\n` line ends; None is an empty cell, floats keep every digit."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([header, *rows])  # which writes None as an empty cell
    return buffer.getvalue()
