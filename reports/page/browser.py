"""The markup of a browser of traced examples; page_browser.js brings it to life."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template

RIGHT = {"": "right or wrong", "1": "right", "0": "wrong"}


def browser(name: str, one: str, intro: str, searched: str, filters: Iterable[str]) -> str:
    """The controls of the island `name`, and where it shows what is chosen.

    one: what an example is called. searched: what the search looks at. filters: see `choice`.
    """
    template = Template(Path(__file__).with_name("page_browser.html").read_text(encoding="utf-8"))
    nouns = {"one": one, "many": f"{one}s", "Many": f"{one}s".capitalize()}
    given = {"name": name, "intro": escape(intro), "searched": searched}
    return template.substitute(nouns | given, filters="\n".join(filters))


def choice(label: str, name: str, options: dict[str, str], shown: bool = True) -> str:
    """A field of a browser's form where one option, words by value, is chosen."""
    words = (f'<option value="{key}">{escape(word)}</option>' for key, word in options.items())
    hidden = "" if shown else " hidden"
    return f'<label{hidden}>{label} <select name="{name}">{"".join(words)}</select></label>'


def any_of(words: Iterable[str], unchosen: str = "any") -> dict[str, str]:
    """Options whose values are their places, after one for all of them."""
    return {"": unchosen} | {str(at): word for at, word in enumerate(words)}
