"""Formatters for numbers, names and table cells.

A table column is a function from a row of its frame to text.
"""

import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from actmodels.registry import HALTINGS
from reports.load import Artifacts

Row = Any  # a row of a frame, by column name
Cell = Callable[[Row], str]
DASH = "\N{EN DASH}"  # a missing value
MINUS = "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
MECHANISMS = {name: mechanism.title for name, mechanism in HALTINGS.items()}
_VARIANTS = {**MECHANISMS, "as_published": "as published"}
_SPELLINGS = {
    "Compare Adaptive": "Compare-first Adaptive",
    "Lstm": "LSTM",
    "Nti": "NTI",
    "Spinn Pi": "SPINN-PI",
    "Intra Attention": "Intra-Attention",
    "Word By Word": "Word-by-Word",
}
_CORPORA = {"captions": "generated captions", "snli": "SNLI subset", "files": "own files"}
SNLI_TRAIN = 549_367  # labeled training pairs of SNLI 1.0 (paper, appendix D)


def signed(value: float, digits: int = 2) -> str:
    """Format with a sign; omit the sign of a value that rounds to zero."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return f"{'+' if value > 0 else MINUS}{text}"


def with_sd(mean: float, sd: float, digits: int = 2, scale: float = 1, sign: bool = False) -> str:
    """Format as `82.7 ± 0.35`, or the mean only if there is no sd."""
    if pd.isna(mean):
        return DASH
    text = signed(scale * mean, digits).removeprefix("" if sign else "+")
    return text if pd.isna(sd) else f"{text} {PLUS_MINUS} {scale * sd:.2f}"


def with_range(value: float, low: float, high: float, scale: float = 1) -> str:
    """Format as `+1.00 [−2.00, +4.00]`."""
    if pd.isna(value):
        return DASH
    return f"{signed(scale * value)} [{signed(scale * low)}, {signed(scale * high)}]"


def optional(column: str, show: Callable[[Any], str]) -> Cell:
    """Format a column with `show`; print a dash for a missing value."""
    return lambda row: DASH if pd.isna(row[column]) else show(row[column])


def text(column: str) -> Cell:
    """Print a column unchanged."""
    return optional(column, str)


def count(column: str) -> Cell:
    """Format a column of integers, `1,203`."""
    return optional(column, lambda value: f"{int(value):,}")


def number(column: str, digits: int = 2, scale: float = 1, sign: bool = False) -> Cell:
    """Format `column_mean` ± `column_sd`, or the column itself if it has no mean."""

    def cell(row: Row) -> str:
        name = f"{column}_mean" if f"{column}_mean" in row else column
        return with_sd(row[name], row.get(f"{column}_sd"), digits, scale, sign)

    return cell


def percent(column: str, digits: int = 1) -> Cell:
    """Format a fraction in [0, 1] as a percentage, with its sd if available."""
    return number(column, digits, scale=100)


def runs(column: str) -> Cell:
    """Format a fraction of the runs of a row as `2 of 3`."""
    return lambda row: f"{round(row[column] * row['seeds'])} of {row['seeds']}"


def points(row: Row) -> str:
    """Format a difference of fractions in percentage points with its 95 % CI."""
    return with_range(row["difference"], row["low"], row["high"], 100)


def p_value(column: str = "p") -> Cell:
    """Format a p-value."""
    return optional(column, lambda p: "< 0.001" if p < 0.001 else f"{p:.3f}")


def setting(value: Any) -> str:
    """Format a setting as in params.yaml: 5e-05 is 0.00005, 2.0 is 2."""
    if isinstance(value, float):
        return f"{value:.10f}".rstrip("0").rstrip(".")
    return str(value)


def settings(text: str) -> str:
    """Format the settings of a run: `ponder_weight 5e-05` is `ponder_weight 0.00005`."""
    return re.sub(r"[\d.]+e-\d+", lambda number: setting(float(number[0])), text)


def duration(seconds: float) -> str:
    """Format as `8.4 s`, `12 min 5 s` or `3 h 20 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def title(model: str) -> str:
    """Format a model name: `adaptive_attention_dact` is Adaptive Attention, DACT."""
    for suffix in sorted(_VARIANTS, key=len, reverse=True):  # supervised_act also ends in act
        if model.endswith(f"_{suffix}"):
            return f"{title(model.removesuffix(f'_{suffix}'))}, {_VARIANTS[suffix]}"
    words = model.replace("_", " ").title()
    for plain, spelling in _SPELLINGS.items():
        words = words.replace(plain, spelling)
    return words


def model_name(row: Row) -> str:
    """Format the `model` of a row."""
    return title(row["model"])


def on_all_of_snli(data: Artifacts) -> bool:
    """Return whether results are comparable with those published for SNLI."""
    pairs = data.documents["tensors/manifest"]["pairs"]["train"]
    return bool(data.documents["corpus/summary"]["source"] == "snli" and pairs >= SNLI_TRAIN)


def majority(data: Artifacts) -> str:
    """Return the most frequent label of test and its share."""
    found = data.documents["corpus/summary"]["majority"]
    return f"majority class of test: {found['label']}, {100 * found['share']:.1f} %"


def corpus(data: Artifacts) -> str:
    """Return the name and size of the corpus."""
    if on_all_of_snli(data):
        return "SNLI"
    source = str(data.documents["corpus/summary"]["source"])
    pairs = data.documents["tensors/manifest"]["pairs"]["train"]
    return f"{_CORPORA[source]}, {pairs:,} pairs"
