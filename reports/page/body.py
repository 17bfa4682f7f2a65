"""The blocks of the report as the body of the page: sections, charts, and words as HTML."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markupsafe import Markup

from reports.blocks import Block, Chart, Figure, Heading, Island, Living

# Pixels kept free for a chart's title, axis and legend, and for one of unknown height, so that
# text does not jump when it is drawn.
FRAME, SHORTEST = 100, 340
LONGEST_NUMBER = 14  # characters: "84.0 ± 10.00" and one more on each side
LONGEST_WORD = 20
MANY_WORDS = 30  # characters of a text that needs room
# What is read at one glance stays on one line: a bracket, a mean with its spread, a count. Long
# addresses may break after their slashes.
WHOLE = re.compile(r"(\([^()]{1,24}\)|\S+ ± \S+|\d[\d,]* (?:seeds|pairs|points)\b)")
LONG = re.compile(rf"(\S{{{LONGEST_WORD},}})")
PROSE = MarkdownIt("commonmark", {"html": False}).disable("image")  # the page loads nothing
CELLS = MarkdownIt("commonmark", {"html": False}).disable("image")


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


def prose(markdown: str) -> Markup:
    """Paragraphs and lists; raw HTML stays text."""
    return Markup(PROSE.render(markdown))


def words(markdown: str) -> Markup:
    """A cell of a table."""
    return Markup(CELLS.renderInline(markdown))


def looks(markdown: str, is_text: bool) -> Markup:
    """The class of a cell, by the length of what it says."""
    said = CELLS.parseInline(markdown)[0].children or []
    length = sum(len(part.content) for part in said)
    if is_text:
        return Markup(' class="words"' if length > MANY_WORDS else "")
    return Markup(' class="number"' if length <= LONGEST_NUMBER else ' class="number long"')


def _text(_: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    parts = WHOLE.split(tokens[at].content)  # every second one is whole
    return "".join(
        f'<span class="whole">{escapeHtml(part)}</span>' if place % 2 else _breaking(part)
        for place, part in enumerate(parts)
    )


def _breaking(text: str) -> str:
    return "".join(
        "".join(f"{escapeHtml(piece)}<wbr>" for piece in re.split(r"(?<=[/_])", part))
        if place % 2
        else escapeHtml(part)
        for place, part in enumerate(LONG.split(text))
    )


CELLS.add_render_rule("text", _text)
