"""A figure: a chart that a page draws and a picture shows, and what it says in words."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One chart.

    spec: Vega-Lite with its data inside. A single view has the width "container", so that a page
        can fit it to the screen; `look.py` gives it colours, for a page or for a picture.
    alternative: what it shows, in a sentence, for those who do not see it.
    """

    spec: dict[str, Any]
    alternative: str
