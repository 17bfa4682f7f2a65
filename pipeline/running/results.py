"""The two forms of small result files, the same bytes for the same content."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actmodels.files import read_known, write_text
from actmodels.tables import COLUMNS
from pipeline.running.stage import made


def write_table(
    path: Path, rows: Sequence[dict[str, Any]], columns: list[str] | None = None
) -> None:
    """Write rows as CSV; the columns are those given, else those declared for this place."""
    import pandas as pd  # not every stage has tables

    columns = columns or COLUMNS.get(f"{path.parent.name}/{path.name}")
    # dtype=object keeps whole numbers whole beside empty cells.
    frame = pd.DataFrame(list(rows), columns=columns, dtype=object)
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def write_json(path: Path, content: dict[str, Any], indent: int = 2) -> None:
    """Write a summary or a manifest, in the order of its keys."""
    write_text(path, json.dumps(content, indent=indent) + "\n")


def read_json(stage: str, name: str) -> Any:
    """What an earlier stage wrote; raises ArtefactError if it is missing."""
    return json.loads(read_known(made(stage, name)))
