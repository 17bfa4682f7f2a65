"""The report as one file of HTML that needs nothing else: text, charts, data, scripts, looks."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from vl_convert import javascript_bundle

from actmodels.files import write_text
from reports.blocks import Block, Island
from reports.charts.look import VEGA_LITE, page_spec
from reports.page.body import Entry, body_of

HERE = Path(__file__).parent
SCRIPTS = (
    *("page.js", "page_tables.js", "page_charts.js"),
    *("page_list.js", "page_steps.js", "page_browser.js"),  # what both browsers share
)
LOOKS = ("page.css", "page_browser.css")


class PageError(ValueError):
    """What a page is to hold does not fit into it."""


def write_page(path: Path, title: str, blocks: Iterable[Block]) -> None:
    """Write the page that says what the blocks say, with living charts and parts.

    A part that lives has the scripts `NAME_*.js` and `NAME.js` beside this file, in this order,
    and the looks `NAME.css` if there is such a file.

    Raises:
        PageError: a part has no script, or its data are none for JSON; nothing is written then.
    """
    body = body_of(blocks)
    data = {f"chart-{chart.name}": page_spec(chart.figure) for chart in body.charts}
    data |= {f"data-{island.name}": island.data for island in body.islands}
    own = (HERE / f"{island.name}.css" for island in body.islands)
    looks = [*(HERE / name for name in LOOKS), *own]
    parts = {
        "title": escape(title),
        "looks": "\n".join(_text(look) for look in looks if look.exists()),
        "contents": contents(body.headings),
        "body": body.html,
        "data": "\n".join(embedded(name, value) for name, value in data.items()),
        "vega": _script(vega()),
        "scripts": "\n".join(_script(_text(script)) for script in _scripts(body.islands)),
    }
    write_text(path, Template(_text(HERE / "page.html")).substitute(parts))


@cache
def vega() -> str:
    """Vega, Vega-Lite and the function `vegaEmbed`, the only name that it adds to a page."""
    return f"(() => {{{javascript_bundle('window.vegaEmbed = vegaEmbed;', VEGA_LITE)}\n}})();"


def contents(headings: Sequence[Entry]) -> str:
    """The headings below the title as a list of links, those of the third level inside."""
    items: list[str] = []
    nested = False
    for heading in headings:
        link = f'<a href="#{heading.id}">{escape(heading.text)}</a>'
        if heading.level == 2:
            items.append(("</ol></li>" if nested else "</li>" if items else "") + f"<li>{link}")
            nested = False
        elif heading.level == 3 and items:
            items.append(("" if nested else "<ol>") + f"<li>{link}</li>")
            nested = True
    closing = "</ol></li>" if nested else "</li>" if items else ""
    return "<ol>" + "\n".join(items) + closing + "</ol>"


def embedded(name: str, value: Any) -> str:
    """A value as JSON inside a script element, which no text in it can close.

    Raises:
        PageError: JSON cannot hold the value, for instance a number that is not finite.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise PageError(f"{name} cannot be embedded as JSON: {error}") from error
    for mark in ("<", "\u2028", "\u2029"):
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def _scripts(islands: Iterable[Island]) -> list[Path]:
    """The page's own scripts, then those of each island, the last of which joins its parts."""
    scripts = [HERE / name for name in SCRIPTS]
    for island in islands:
        last = HERE / f"{island.name}.js"
        if not last.exists():
            raise PageError(f"the island {island.name} has no script {last.name}")
        scripts += [*sorted(HERE.glob(f"{island.name}_*.js")), last]
    return scripts


def _script(code: str) -> str:
    """Code as a script element; inside code `</script` can only stand in a string."""
    return "<script>" + code.replace("</script", "<\\/script") + "</script>"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
