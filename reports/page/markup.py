"""Words of the report as HTML: paragraphs, and cells of tables with the places where they break."""

import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markupsafe import Markup

LONGEST_NUMBER = 14  # characters: "84.0 ± 10.00" and one more on each side
LONGEST_WORD = 20
MANY_WORDS = 30  # characters of a text that needs room
# What is read at one glance stays on one line: a bracket, a mean with its spread, a count. Long
# addresses may break after their slashes.
WHOLE = re.compile(r"(\([^()]{1,24}\)|\S+ ± \S+|\d[\d,]* (?:seeds|pairs|points)\b)")
LONG = re.compile(rf"(\S{{{LONGEST_WORD},}})")

PROSE = MarkdownIt("commonmark", {"html": False})
CELLS = MarkdownIt("commonmark", {"html": False})


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
