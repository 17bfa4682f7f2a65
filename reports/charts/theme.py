"""The chart theme, for the page (CSS variables as colors) and for PNG files (on white)."""

import json
from collections.abc import Sequence
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

# Axis and text colors as CSS variables, and their values in PNG files.
INK, MUTED, GRID = "var(--ink)", "var(--muted)", "var(--grid)"
PNG_COLORS = {INK: "#222222", MUTED: "#595959", GRID: "#e3e3e3"}
# Colorblind-safe palette of Okabe and Ito. The last two colors are darker, so that all have a
# contrast of 3 : 1 with the light and the dark page.
COLORS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#b88200", "#3e95cb"]
ORANGE, BLUE = COLORS[:2]
VEGA_LITE = "6.4"  # the version that Altair writes
PNG_WIDTH = 560  # px
PIXELS_PER_INCH = 144  # for high-density screens
FONT_SIZE = 12  # px: legible on a phone
WIDE = 560  # px: minimum chart width for a legend of two columns
CONFIG: dict[str, Any] = {
    "autosize": {"type": "fit-x", "contains": "padding"},
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        **{"labelColor": INK, "titleColor": INK, "gridColor": GRID, "labelFontSize": FONT_SIZE},
        **{"titleFontSize": FONT_SIZE, "titleFontWeight": "normal", "titlePadding": 8},
        **{"domain": False, "ticks": False, "labelPadding": 5, "labelSeparation": 6},
    },
    "legend": {
        **{"orient": "bottom", "labelColor": INK, "labelFontSize": FONT_SIZE, "labelLimit": 260},
        **{"title": None, "offset": 12, "symbolStrokeWidth": 2, "symbolOpacity": 1},
        "columns": {"expr": f"containerSize()[0] < {WIDE} ? 1 : 2"},
        "layout": {"bottom": {"direction": "vertical", "anchor": "start", "margin": 6}},
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": FONT_SIZE},
    "range": {"category": COLORS},
    "line": {"strokeWidth": 1.8},
    "point": {"filled": True, "size": 45},
    "rule": {"strokeWidth": 1.4},
    "text": {"color": INK, "fontSize": FONT_SIZE},
}


def page_spec(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification for the page."""
    config = {"background": "transparent", "font": "system-ui, sans-serif", **CONFIG}
    return {**chart.spec, "config": config}


def png_spec(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification for a PNG file, with a font of vl-convert."""
    config = {"background": "#ffffff", "font": "Liberation Sans", **CONFIG}
    config["legend"] = {**CONFIG["legend"], "columns": 2}
    text = json.dumps({**chart.spec, "width": PNG_WIDTH, "config": config})
    for name, color in PNG_COLORS.items():
        text = text.replace(name, color)
    spec: dict[str, Any] = json.loads(text)
    return spec


def write_pictures(charts: Sequence[Chart], folder: Path) -> None:
    """Write each chart as `folder`/NAME.png."""
    with ThreadPoolExecutor(2) as pool:
        images = zip(charts, pool.map(png, charts), strict=True)
        for chart, image in tqdm(images, "report", len(charts), unit=" figure"):
            with replacing(folder / f"{chart.name}.png") as temporary:
                temporary.write_bytes(image)


def png(chart: Chart) -> bytes:
    """Render a chart as PNG, offline and without timestamps or versions."""
    drawn: bytes = vl_convert.vegalite_to_png(
        png_spec(chart), vl_version=VEGA_LITE, ppi=PIXELS_PER_INCH, allowed_base_urls=[]
    )
    compressed = BytesIO()
    with Image.open(BytesIO(drawn)) as image:  # level 8: a fifth of the bytes, fast
        image.save(compressed, "PNG", compress_level=8, dpi=(PIXELS_PER_INCH, PIXELS_PER_INCH))
    return compressed.getvalue()


@cache
def vega() -> str:
    """Return a script with Vega and Vega-Lite that defines only `vegaEmbed`."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE)
    return f"(() => {{{bundle}\n}})();"
