"""One look for all figures: what is drawn for a page follows its light or dark by itself.

Figures name the colours of their frame as a page's variables. In a page the browser fills them in,
so that a chart follows the reader's choice without being drawn again; for a picture they are
replaced by those of white paper.
"""

import json
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import vl_convert
from PIL import Image
from tqdm import tqdm

from actmodels.files import replacing
from reports.blocks import Figure

# The frame's colours as a page declares them, and what they are on paper.
INK, MUTED, GRID, SURFACE = "var(--ink)", "var(--muted)", "var(--grid)", "var(--surface)"
ON_PAPER = {INK: "#222222", MUTED: "#595959", GRID: "#e3e3e3", SURFACE: "#ffffff"}
# Okabe and Ito's colours, told apart with any colour vision. The last two are darker than theirs,
# so that all have a contrast of 3 : 1 and more with white and with a dark page.
ORANGE, BLUE = "#d55e00", "#0072b2"
COLOURS = (ORANGE, BLUE, "#009e73", "#cc79a7", "#b88200", "#3e95cb")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

PICTURE_WIDTH = 560  # px, of the plotted area with its axes
AXES = 70  # px of it that axes take at most
COLUMNS = re.compile(
    r'\{"expr": "max\(1, floor\(\(containerSize[^/]* / (\d+)\)\)"\}'
)  # of a legend
LABEL = 12  # px: read without zooming on a phone
CONFIG: dict[str, Any] = {
    "autosize": {"type": "fit-x", "contains": "padding"},
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        **{"labelColor": INK, "titleColor": INK, "domainColor": MUTED, "tickColor": MUTED},
        **{"gridColor": GRID, "labelFontSize": LABEL, "titleFontSize": LABEL},
        **{
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "domain": False,
            "ticks": False,
            "labelPadding": 5,
            "labelSeparation": 6,
        },
    },
    "legend": {
        **{"orient": "bottom", "labelColor": INK, "titleColor": INK, "labelFontSize": LABEL},
        **{"titleFontSize": LABEL, "titleFontWeight": "normal", "labelLimit": 280, "offset": 12},
        **{"symbolOpacity": 1, "symbolBaseStrokeColor": MUTED, "symbolBaseFillColor": MUTED},
        "symbolStrokeWidth": 2,
        # legends stand one below the other: side by side they are wider than a phone
        "layout": {"bottom": {"direction": "vertical", "anchor": "start", "margin": 6}},
    },
    "title": {
        **{"color": INK, "subtitleColor": MUTED, "fontSize": 13, "subtitleFontSize": LABEL},
        **{"anchor": "start", "frame": "bounds", "offset": 10, "subtitlePadding": 4},
    },
    "line": {"strokeWidth": 1.8},
    "text": {"color": INK, "fontSize": LABEL},
}
VEGA_LITE = "6.4"  # of those that vl-convert holds, the one that Altair writes
PIXELS_PER_INCH = 144  # twice a screen's, so that a picture is sharp on a fine one


def page_spec(figure: Figure) -> dict[str, Any]:
    """Vega-Lite for a page that declares the frame's colours; as wide as its container."""
    config = {"background": "transparent", "font": "system-ui, sans-serif", **CONFIG}
    return {**figure.spec, "config": config}


def picture_spec(figure: Figure) -> dict[str, Any]:
    """Vega-Lite for a picture on white, with a font that vl-convert brings."""
    config = {"background": SURFACE, "font": "Liberation Sans", **CONFIG}
    spec = {**figure.spec, "width": PICTURE_WIDTH, "config": config}
    room = PICTURE_WIDTH - AXES  # a picture has nothing around it to count a legend's columns by
    text = COLUMNS.sub(lambda found: str(max(1, room // int(found[1]))), json.dumps(spec))
    for name, colour in ON_PAPER.items():
        text = text.replace(name, colour)
    drawn: dict[str, Any] = json.loads(text)
    return drawn


def write_pictures(figures: Mapping[str, Figure], folder: Path) -> dict[str, Path]:
    """Write every figure as `folder`/NAME.png; its path by its name.

    Pictures of an earlier report on other artefacts are removed.
    """
    paths = {name: folder / f"{name}.png" for name in figures}
    for name, figure in tqdm(figures.items(), "report", unit=" figure"):
        drawn = draw(figure)
        with replacing(paths[name]) as temporary:
            temporary.write_bytes(drawn)
    for stray in sorted(set(folder.glob("*.png")) - set(paths.values())):
        stray.unlink()
    return paths


def draw(figure: Figure) -> bytes:
    """The PNG of a figure; nothing is fetched, and neither versions nor dates are stored."""
    spec = picture_spec(figure)
    png: bytes = vl_convert.vegalite_to_png(
        spec, vl_version=VEGA_LITE, ppi=PIXELS_PER_INCH, allowed_base_urls=[]
    )
    packed = BytesIO()
    with Image.open(BytesIO(png)) as image:  # a fifth of the bytes is left
        image.save(packed, "PNG", optimize=True, dpi=(PIXELS_PER_INCH, PIXELS_PER_INCH))
    return packed.getvalue()
