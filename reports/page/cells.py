"""Cells of tables: how they are aligned, and where their text may break into lines."""

import re

from markdown_it.token import Token

LONGEST_NUMBER = 14  # characters: "84.0 ± 10.00" and one more on each side
LONGEST_WORD = 20
MANY_WORDS = 30  # characters of a text that needs room
# What is read at one glance, and therefore stays on one line: a bracket, a mean with its spread, a
# count; and what may break after its slashes, an address.
WHOLE = r"(?P<whole>\([^()]{1,24}\)|\S+ ± \S+|\d[\d,]* (?:seeds|pairs|points)\b)"
LONG = rf"(?P<long>\S{{{LONGEST_WORD},}})"
PARTS = re.compile(f"{WHOLE}|{LONG}")


def style_cell(opening: Token, inline: Token) -> None:
    """Give a cell its class, and its text the places where it breaks.

    Args:
        opening: the token th_open or td_open.
        inline: the token of its text, whose children are replaced; what they say stays the same.
    """
    length = sum(len(child.content) for child in inline.children or [])
    if opening.attrs.pop("style", None) == "text-align:right":
        opening.attrSet("class", "number" if length <= LONGEST_NUMBER else "number long")
    elif length > MANY_WORDS:
        opening.attrSet("class", "words")
    if opening.type == "th_open":
        opening.attrSet("scope", "col")
    children = inline.children or []
    inline.children = [part for child in children for part in _parts(child)]


def _parts(child: Token) -> list[Token]:
    if child.type != "text":
        return [child]
    parts: list[Token] = []
    at = 0
    for found in PARTS.finditer(child.content):
        parts.append(_text(child.content[at : found.start()]))
        if whole := found["whole"]:
            parts += [_html('<span class="whole">'), _text(whole), _html("</span>")]
        else:
            for piece in re.split(r"(?<=[/_])", found["long"]):
                parts += [_text(piece), _html("<wbr>")]
        at = found.end()
    return [*parts, _text(child.content[at:])]


def _text(text: str) -> Token:
    return Token("text", "", 0, content=text)


def _html(html: str) -> Token:
    return Token("html_inline", "", 0, content=html)
