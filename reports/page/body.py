"""The blocks of the report as the body of the page: sections with their headings and charts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from reports.blocks import Block, Chart, Heading, Living
from reports.charts.figure import Figure
from reports.page.island import Island
from reports.page.markup import looks, prose, words

# Pixels kept free for a chart's title, axis and legend, and for one of unknown height, so that
# text does not jump when it is drawn.
FRAME, SHORTEST = 100, 340


@dataclass(frozen=True)
class Entry:
    """A heading as the list of contents shows it."""

    id: str
    level: int
    text: str


@dataclass
class Section:
    """What stands under a heading of the second level, or before the first.

    id: of that heading. parts: kind, block, and what the body knows of it besides: the id of a
    heading, the number of a chart, the heading that a table stands under.
    """

    id: str | None = None
    island: Island | None = None
    parts: list[tuple[str, Block, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Body:
    """HTML of the sections, and what stands in them, in order."""

    html: str
    headings: list[Entry]
    charts: list[Chart]
    islands: list[Island]


def body_of(blocks: Iterable[Block]) -> Body:
    """The body of the page; a living part is a section of its own. Raw HTML stays text."""
    blocks = list(blocks)
    islands = [block.island for block in blocks if isinstance(block, Living)]
    headings: list[Entry] = []
    charts: list[Chart] = []
    sections = [Section()]
    for block in blocks:
        told: Any = headings[-1].text if headings else "the report"
        match block:
            case Heading():
                taken = {entry.id for entry in headings} | {island.name for island in islands}
                told = _free(_slug(block.text), taken)
                headings.append(Entry(told, block.level, block.text))
                if block.level == 2:
                    sections.append(Section(told))
            case Living():
                headings.append(Entry(block.island.name, 2, block.island.heading))
                told = f"heading-{block.island.name}"
                sections.append(Section(told, block.island))
            case Chart():
                charts.append(block)
                told = len(charts)
        sections[-1].parts.append((type(block).__name__, block, told))
    html = _templates().get_template("body.jinja").render(sections=sections)
    return Body(html, headings, charts, islands)


def _templates() -> Environment:
    found = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    found.filters |= {"prose": prose, "words": words, "looks": looks, "height": _height}
    return found


def _height(figure: Figure) -> int:
    height = figure.spec.get("height")
    return height + FRAME if isinstance(height, int) else SHORTEST


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "section"


def _free(name: str, taken: set[str]) -> str:
    numbered = (f"{name}-{n}" for n in range(2, len(taken) + 3))
    return name if name not in taken else next(n for n in numbered if n not in taken)
