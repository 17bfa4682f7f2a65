"""What a report is made of: blocks, which markdown and the page write each in their way.

Texts and cells of tables are markdown themselves, without blocks of their own in them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reports.charts.figure import Figure
from reports.markdown import Table
from reports.page.island import Island

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
class Chart:
    """A figure: a picture `figures/NAME.png` in markdown, a living chart in the page."""

    name: str
    figure: Figure


@dataclass(frozen=True)
class Living:
    """A part that only the page has; markdown has a link to it, of some words."""

    words: str
    island: Island


Block = Heading | Text | Table | Chart | Living


def drawn(charts: Mapping[str, Figure], *names: str) -> list[Block]:
    """Those of the figures that there are."""
    return [Chart(name, charts[name]) for name in names if name in charts]


def drawn_of(charts: Mapping[str, Figure], kind: str, *models: str) -> list[Block]:
    """The figures of one kind of each of the models."""
    return drawn(charts, *(f"{kind}_{model}" for model in models))


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
