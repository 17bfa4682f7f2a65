"""How numbers are printed: a column of a table is a function from a row of its frame to text."""

from collections.abc import Callable
from typing import Any

import pandas as pd

Row = Any  # a row of a frame, by column name
Cell = Callable[[Row], str]
DASH = "\N{EN DASH}"  # a cell without a value
MINUS = "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"


def signed(value: float, digits: int = 2) -> str:
    """Print with a sign; what rounds to zero has none."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return f"{'+' if value > 0 else MINUS}{text}"


def with_sd(mean: float, sd: float, digits: int = 2, scale: float = 1, sign: bool = False) -> str:
    """Print `82.7 ± 0.35`; without an sd the mean alone."""
    if pd.isna(mean):
        return DASH
    text = signed(scale * mean, digits) if sign else f"{scale * mean:.{digits}f}"
    return text if pd.isna(sd) else f"{text} {PLUS_MINUS} {scale * sd:.2f}"


def text(column: str) -> Cell:
    """Print a cell as it is."""
    return lambda row: DASH if pd.isna(row[column]) else str(row[column])


def count(column: str) -> Cell:
    """Print a whole number, `1,203`."""
    return lambda row: DASH if pd.isna(row[column]) else f"{int(row[column]):,}"


def number(column: str, digits: int = 2, scale: float = 1, sign: bool = False) -> Cell:
    """Print `column_mean` ± `column_sd`, or the column itself if it has no mean."""

    def cell(row: Row) -> str:
        name = f"{column}_mean" if f"{column}_mean" in row else column
        return with_sd(row[name], row.get(f"{column}_sd"), digits, scale, sign)

    return cell


def percent(column: str, digits: int = 1) -> Cell:
    """Print a share in [0, 1] as a percentage, with its sd if there is one."""
    return number(column, digits, scale=100)


def points(column: str = "difference") -> Cell:
    """Print a difference of shares in points with its interval: `+1.00 (-2.00 to +4.00)`."""

    def cell(row: Row) -> str:
        if pd.isna(row[column]):
            return DASH
        mean, low, high = (signed(100 * row[name]) for name in (column, "low", "high"))
        return f"{mean} ({low} to {high})"

    return cell


def p_value(column: str = "p") -> Cell:
    """Print a p-value."""

    def cell(row: Row) -> str:
        p = row[column]
        if pd.isna(p):
            return DASH
        return "< 0.001" if p < 0.001 else f"{p:.3f}"

    return cell


def setting(value: Any) -> str:
    """Print the value of a setting as params.yaml has it: 5e-05 is 0.00005, 2.0 is 2."""
    if isinstance(value, float):
        return f"{value:.10f}".rstrip("0").rstrip(".")
    return str(value)


def duration(seconds: float) -> str:
    """Print `8.4 s`, `12 min 5 s`, `3 h 20 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
