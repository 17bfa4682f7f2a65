"""One theme for all charts: a page colors their frame by its variables, a picture is on white."""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import vl_convert
from PIL import Image
from tqdm import tqdm

from actmodels.files import replacing
from reports.blocks import Chart

# Colors of the frame as the page declares them, and what they are on paper.
INK, MUTED, GRID = "var(--ink)", "var(--muted)", "var(--grid)"
ON_PAPER = {INK: "#222222", MUTED: "#595959", GRID: "#e3e3e3"}
# Okabe and Ito's colors, told apart with any color vision. The last two are darker than theirs, so
# that all have a contrast of 3 : 1 with white and with a dark page.
COLORS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#b88200", "#3e95cb"]
ORANGE, BLUE = COLORS[:2]
VEGA_LITE = "6.4"  # of those that vl-convert holds, the one that Altair writes
PICTURE_WIDTH = 560  # px
PIXELS_PER_INCH = 144  # twice a screen's, for fine ones
SIZE = 12  # px of letters: read without zooming on a phone
WIDE = 560  # px of a chart from which on its legend has two columns
CONFIG: dict[str, Any] = {
    "autosize": {"type": "fit-x", "contains": "padding"},
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        **{"labelColor": INK, "titleColor": INK, "gridColor": GRID, "labelFontSize": SIZE},
        **{"titleFontSize": SIZE, "titleFontWeight": "normal", "titlePadding": 8},
        **{"domain": False, "ticks": False, "labelPadding": 5, "labelSeparation": 6},
    },
    "legend": {
        **{"orient": "bottom", "labelColor": INK, "labelFontSize": SIZE, "labelLimit": 260},
        **{"title": None, "offset": 12, "symbolStrokeWidth": 2, "symbolOpacity": 1},
        "columns": {"expr": f"containerSize()[0] < {WIDE} ? 1 : 2"},
        "layout": {"bottom": {"direction": "vertical", "anchor": "start", "margin": 6}},
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": SIZE},
    "range": {"category": COLORS},
    "line": {"strokeWidth": 1.8},
    "point": {"filled": True, "size": 45},
    "rule": {"strokeWidth": 1.4},
    "text": {"color": INK, "fontSize": SIZE},
}


def page_spec(chart: Chart) -> dict[str, Any]:
    """Return Vega-Lite for a page that declares the colors of the frame, as wide as its place."""
    config = {"background": "transparent", "font": "system-ui, sans-serif", **CONFIG}
    return {**chart.spec, "config": config}


def picture_spec(chart: Chart) -> dict[str, Any]:
    """Return Vega-Lite for a picture on white, with a font that vl-convert brings."""
    config = {"background": "#ffffff", "font": "Liberation Sans", **CONFIG}
    config["legend"] = {**CONFIG["legend"], "columns": 2}
    text = json.dumps({**chart.spec, "width": PICTURE_WIDTH, "config": config})
    for name, color in ON_PAPER.items():
        text = text.replace(name, color)
    spec: dict[str, Any] = json.loads(text)
    return spec


def write_pictures(charts: Iterable[Chart], folder: Path) -> None:
    """Write each chart as `folder`/NAME.png; pictures of an earlier report are removed."""
    drawn = {folder / f"{chart.name}.png": chart for chart in charts}
    with ThreadPoolExecutor(2) as pool:
        pictures = zip(drawn, pool.map(png, drawn.values()), strict=True)
        for path, picture in tqdm(pictures, "report", len(drawn), unit=" figure"):
            with replacing(path) as temporary:
                temporary.write_bytes(picture)
    for stray in sorted(set(folder.glob("*.png")) - set(drawn)):
        stray.unlink()


def png(chart: Chart) -> bytes:
    """Draw a chart; nothing is fetched, and neither versions nor dates are stored."""
    drawn: bytes = vl_convert.vegalite_to_png(
        picture_spec(chart), vl_version=VEGA_LITE, ppi=PIXELS_PER_INCH, allowed_base_urls=[]
    )
    fused = BytesIO()
    with Image.open(BytesIO(drawn)) as image:  # a fifth of the bytes is left
        # as small as by `optimize`, in half the time
        image.save(fused, "PNG", compress_level=8, dpi=(PIXELS_PER_INCH, PIXELS_PER_INCH))
    return fused.getvalue()


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and `vegaEmbed`, the only name that this script adds to a page."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE)
    return f"(() => {{{bundle}\n}})();"
