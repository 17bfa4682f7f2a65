"""Draw accuracy and steps by hops side by side, from artifacts/studies/multihop/.

Run: python -m studies.multihop.figure docs/images/hops.png
"""

import sys
from io import BytesIO
from pathlib import Path

import pandas as pd
from PIL import Image

from pipeline.runtime.stage import artifacts
from reports.load import Artifacts
from reports.marks import png
from studies.multihop.report import multihop_charts
from studies.multihop.tables import COLUMNS


def main(target: Path) -> None:
    """Write the charts of the study as one PNG file."""
    folder = artifacts("studies", "multihop")
    if missing := [name for name in COLUMNS if not (folder / name).is_file()]:
        run = "act-nli use study=depth && dvc exp run study@multihop"
        sys.exit(f"error: {folder / missing[0]} is missing; run: {run}")
    tables = {
        f"multihop/{Path(name).stem}": pd.read_csv(folder / name, dtype={"run": str, "exit": str})
        for name in COLUMNS
    }
    images = [Image.open(BytesIO(png(c))) for c in multihop_charts(Artifacts(tables, {}, {}))]
    size = sum(image.width for image in images), max(image.height for image in images)
    joined, left = Image.new("RGB", size, "white"), 0
    for image in images:
        joined.paste(image, (left, 0))
        left += image.width
    joined.quantize(256).save(target, "PNG", optimize=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m studies.multihop.figure FILE.png")
    main(Path(sys.argv[1]))
