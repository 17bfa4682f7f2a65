"""The two forms of small result files, the same bytes for the same content."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from actmodels.files import write_text


def write_table(
    path: Path, rows: Sequence[dict[str, Any]], columns: list[str] | None = None
) -> None:
    """Write rows as CSV; `columns` gives the header where there may be no rows."""
    # dtype=object keeps whole numbers whole beside empty cells.
    frame = pd.DataFrame(list(rows), columns=columns, dtype=object)
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def write_summary(path: Path, summary: dict[str, Any]) -> None:
    """Write a summary as JSON, in the order of its keys."""
    write_text(path, json.dumps(summary, indent=2) + "\n")
