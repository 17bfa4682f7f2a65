"""The sweep against another one: settings that differ, and the best of each model."""

from collections.abc import Sequence

import pandas as pd

from reports import format as fmt
from reports.blocks import Section, Table

CAPTIONS = {
    "compared_settings": "Settings that differ.",
    "compared_best": "The best configuration of each model on dev.",
}


def comparison_section(
    other: str, notes: Sequence[str], *tables: Sequence[Sequence[str]]
) -> Section:
    """Return the comparison with another sweep.

    tables: settings and best; each a row of columns, then rows of cells that begin with a model.
    """
    parts = []
    for (name, caption), (columns, *rows) in zip(CAPTIONS.items(), tables, strict=True):
        frame = pd.DataFrame(rows, columns=[*columns])
        frame[columns[0]] = frame[columns[0]].map(fmt.title)
        cells = {column: fmt.text(column) for column in columns}
        parts += [Table(name, frame, cells, caption, len(columns))] if rows else []
    return Section(f"Compared with {other}", parts, f"{'; '.join(notes)}.")
