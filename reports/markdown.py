"""Rows as a table of the report or as CSV text."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float | None
DASH = "\N{EN DASH}"  # a cell without a figure


@dataclass(frozen=True)
class Table:
    """A table of markdown cells; the first `left` columns are text, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1

    def __str__(self) -> str:
        """A pipe table, its numbers aligned right."""
        rules = ["---" if at < self.left else "---:" for at in range(len(self.header))]
        lines = ["| " + " | ".join(cells) + " |" for cells in (self.header, rules, *self.rows)]
        return "\n".join(lines)


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """CSV with `\\n` line ends; None is an empty cell, floats keep every digit."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return buffer.getvalue()
