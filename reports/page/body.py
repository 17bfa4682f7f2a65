"""The report's markdown as the body of the page: sections, charts, tables, and living parts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from reports.charts.figure import Figure
from reports.page.cells import style_cell
from reports.page.island import Island

FIGURE = re.compile(r"^figures/(?P<name>[\w-]+)\.png$")
ISLAND = re.compile(r"^index\.html#(?P<name>[\w-]+)$")
# Pixels kept free for a chart's title, axis and legend, and for one of unknown height, so that
# text does not jump when it is drawn.
FRAME, SHORTEST = 100, 340


class PageError(ValueError):
    """The markdown, the charts and the living parts of a page do not fit together."""


@dataclass(frozen=True)
class Heading:
    """A heading as the list of contents shows it."""

    id: str
    level: int
    text: str


@dataclass
class Body:
    """HTML of the sections, and what stands in them.

    headings: in order; shown: names of the charts; placed: names of the living parts.
    """

    html: str = ""
    headings: list[Heading] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    placed: list[str] = field(default_factory=list)


def body_of(markdown: str, figures: Mapping[str, Figure], islands: Sequence[Island]) -> Body:
    """Turn markdown into the body of the page.

    A paragraph of images alone, `![caption](figures/NAME.png)`, becomes the charts of these
    names; one that is a single link to `index.html#NAME` becomes the island of this name, with a
    heading of the second level. Raw HTML stays text.

    Raises:
        PageError: an image or such a link has no chart or island, stands inside a sentence or
            stands there twice; or an island has no place.
    """
    writer = _Writer(figures, {island.name: island for island in islands})
    body = writer.written(markdown)
    if absent := [island.name for island in islands if island.name not in body.placed]:
        raise PageError(
            f"the markdown has no place for {', '.join(absent)}; "
            f"add a paragraph of one link to index.html#{absent[0]}"
        )
    return body


class _Writer:
    """Walks over the blocks of a document once and replaces some of them."""

    def __init__(self, figures: Mapping[str, Figure], islands: Mapping[str, Island]) -> None:
        self.parser = MarkdownIt("commonmark", {"html": False}).enable("table")
        self.figures, self.islands = figures, islands
        self.body = Body()
        self.blocks: list[Token] = []
        self.open = False  # a section

    def written(self, markdown: str) -> Body:
        tokens = self.parser.parse(markdown)
        at = 0
        while at < len(tokens):
            at += self._block(tokens, at)
        self._section(None)
        self.body.html = self.parser.renderer.render(self.blocks, self.parser.options, {})
        return self.body

    def _block(self, tokens: list[Token], at: int) -> int:
        """Take over the block that starts at a token; the number of tokens it has."""
        token = tokens[at]
        if token.type == "heading_open":
            self._heading(token, _plain(tokens[at + 1]))
        elif token.type == "paragraph_open":
            inline = tokens[at + 1].children or []
            if replaced := self._figures(inline) or self._island(inline):
                self._html(replaced)
                return 3
        elif token.type == "table_open":
            self._html(self._table())
        elif token.type in ("th_open", "td_open"):
            style_cell(token, tokens[at + 1])
        elif token.type == "inline" and any(c.type == "image" for c in token.children or []):
            raise PageError(f"a chart stands inside a sentence: {token.content!r}")
        self.blocks.append(token)
        if token.type == "table_close":
            self._html("</div>\n")
        return 1

    def _html(self, html: str) -> None:
        self.blocks.append(Token("html_block", "", 0, content=html))

    def _heading(self, token: Token, text: str) -> None:
        level = int(token.tag[1:])
        name = self._free(_slug(text))
        if level == 2:
            self._section(name)
        token.attrSet("id", name)
        self.body.headings.append(Heading(name, level, text))

    def _free(self, name: str) -> str:
        taken = {heading.id for heading in self.body.headings} | set(self.islands)
        numbered = (f"{name}-{n}" for n in range(2, len(taken) + 3))
        return name if name not in taken else next(n for n in numbered if n not in taken)

    def _section(self, labelled_by: str | None, attributes: str = "") -> None:
        """Close the section that is open, and open another unless None."""
        closing = "</section>\n" if self.open else ""
        self.open = labelled_by is not None
        opening = f'<section aria-labelledby="{labelled_by}"{attributes}>\n' if self.open else ""
        if closing or opening:
            self._html(closing + opening)

    def _table(self) -> str:
        """What opens the frame in which a wide table scrolls by itself; Tab reaches it."""
        last = self.body.headings[-1].text if self.body.headings else "the report"
        label = escape(f"Table under “{last}”")
        return f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n'

    def _figures(self, inline: list[Token]) -> str:
        images = [part for part in inline if part.type == "image"]
        if not images or len(images) != sum(part.type != "softbreak" for part in inline):
            return ""
        return "".join(map(self._figure, images))

    def _figure(self, image: Token) -> str:
        source = str(image.attrs["src"])
        found = FIGURE.match(source)
        name = found["name"] if found else source
        if name not in self.figures:
            known = ", ".join(self.figures) or "none"
            raise PageError(f"the markdown shows {source!r}, which is no chart; there are: {known}")
        if name in self.body.shown:
            raise PageError(f"the markdown shows the chart {name!r} twice")
        self.body.shown.append(name)
        figure, caption = self.figures[name], escape(image.content)
        words = escape(figure.alternative)
        labelled, again = f'aria-label="{words}"', f"<p>{words}</p>"
        if caption == words:  # need not be said twice
            labelled, again = f'aria-labelledby="caption-{name}"', ""
        height = figure.spec.get("height")
        height = height + FRAME if isinstance(height, int) else SHORTEST
        return (
            f'<figure id="figure-{name}" data-figure="{name}">\n'
            f'<div class="chart" role="img" {labelled} style="min-height:{height}px"></div>\n'
            f'<figcaption id="caption-{name}"><b>Figure {len(self.body.shown)}.</b> {caption}'
            '</figcaption>\n<details class="behind"><summary>Data of this chart'
            f'<span class="hidden">: {caption}</span></summary>\n{again}</details>\n</figure>\n'
        )

    def _island(self, inline: list[Token]) -> str:
        """The living part that a paragraph stands for, in a section of its own."""
        if not inline or inline[0].type != "link_open" or inline[-1].type != "link_close":
            return ""
        found = ISLAND.match(str(inline[0].attrs["href"]))
        if not found or sum(part.type == "link_open" for part in inline) != 1:
            return ""
        name = found["name"]
        if name not in self.islands or name in self.body.placed:
            why = "stands there twice" if name in self.body.placed else "is no part of the page"
            raise PageError(f"the markdown links to index.html#{name} in a paragraph, but it {why}")
        island = self.islands[name]
        self.body.placed.append(name)
        self._section(f"heading-{name}", f' id="{name}" class="island"')
        self.body.headings.append(Heading(name, 2, island.heading))
        return f'<h2 id="heading-{name}">{escape(island.heading)}</h2>\n{island.html}\n'


def _plain(inline: Token) -> str:
    return "".join(part.content for part in inline.children or [])


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "section"
