"""How numbers and names are printed.

A column of a table is a function from a row of its frame to text.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from actmodels.registry import HALTINGS
from reports.load import Artifacts

Row = Any  # a row of a frame, by column name
Cell = Callable[[Row], str]
DASH = "\N{EN DASH}"  # a cell without a value
MINUS = "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
MECHANISMS = {name: kind.title for name, kind in HALTINGS.items()}
_VARIANTS = {**MECHANISMS, "as_published": "as published"}
_SPELLED = {
    "Lstm": "LSTM",
    "Nti": "NTI",
    "Spinn Pi": "SPINN-PI",
    "Intra Attention": "Intra-Attention",
    "Word By Word": "Word-by-Word",
}
SNLI_TRAIN = 549_367  # labeled training pairs of SNLI 1.0 (paper, appendix D)


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


def known(column: str, shown: Callable[[Any], str]) -> Cell:
    """Print a value by `shown`, and a dash where there is none."""
    return lambda row: DASH if pd.isna(row[column]) else shown(row[column])


def text(column: str) -> Cell:
    """Print a cell as it is."""
    return known(column, str)


def count(column: str) -> Cell:
    """Print a whole number, `1,203`."""
    return known(column, lambda value: f"{int(value):,}")


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
    return known(column, lambda p: "< 0.001" if p < 0.001 else f"{p:.3f}")


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


def title(model: str) -> str:
    """Spell a model's name: `adaptive_attention_dact` is Adaptive Attention, DACT."""
    for ending in sorted(_VARIANTS, key=len, reverse=True):  # supervised_act also ends in act
        if model.endswith(f"_{ending}"):
            return f"{title(model.removesuffix(f'_{ending}'))}, {_VARIANTS[ending]}"
    words = model.replace("_", " ").title()
    for plain, spelled in _SPELLED.items():
        words = words.replace(plain, spelled)
    return words


def model_name(row: Row) -> str:
    """Print the model of a row of a table."""
    return title(row["model"])


def on_all_of_snli(data: Artifacts) -> bool:
    """Return whether the figures may be compared with those published for SNLI."""
    pairs = data.documents["tensors/manifest"]["pairs"]["train"]
    return bool(data.documents["corpus/summary"]["source"] == "snli" and pairs >= SNLI_TRAIN)


def corpus(data: Artifacts) -> str:
    """Name the corpus in a table cell."""
    pairs = data.documents["tensors/manifest"]["pairs"]["train"]
    if data.documents["corpus/summary"]["source"] == "captions":
        return f"generated captions, {pairs:,} pairs"
    return "SNLI" if on_all_of_snli(data) else f"SNLI subset, {pairs:,} pairs"
