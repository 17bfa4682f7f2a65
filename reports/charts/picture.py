"""Figures as PNG files, whose bytes depend on the figures alone."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import vl_convert
from PIL import Image
from tqdm import tqdm

from actmodels.files import replacing
from reports.charts.figure import Figure
from reports.charts.look import picture_spec

VEGA_LITE = "6.4"  # of those that vl-convert holds, the one that Altair writes
PIXELS_PER_INCH = 144  # twice a screen's, so that a picture is sharp on a fine one


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
