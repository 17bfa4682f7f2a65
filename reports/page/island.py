"""A part of the page that is alive: its markup, its data and the script that joins them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Island:
    """A section of the page which a script fills.

    name: of the section: its id in the page; `<name>.js` beside this file is its script, which
        finds its data, as JSON, in the element `data-<name>`.
    heading: of the section, also in the list of contents.
    html: what stands in the section before the script has run, with every control in it.
    data: anything that JSON can hold, small enough to be embedded.
    """

    name: str
    heading: str
    html: str
    data: Any
