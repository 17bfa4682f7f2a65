"""Rows as a markdown table or as CSV text."""

import csv
import io
from collections.abc import Sequence

Cell = str | int | float | None
DASH = "\N{EN DASH}"  # a cell without a figure


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A pipe table; the first `left` columns are aligned left, the others (numbers) right."""
    rules = ["---" if at < left else "---:" for at in range(len(header))]
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, rules, *rows)]
    return "\n".join(lines)


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """CSV with `\\n` line ends; None is an empty cell, floats keep every digit."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return buffer.getvalue()
