"""Read labeled sentence pairs from files of any columns and labels (corpus.files)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from actmodels.errors import DataError, shown
from pipeline.datasets.rows import Row, read_rows
from pipeline.datasets.snli import PARSES, Pair, checked_pair, checked_split
from pipeline.parameters.schema import PairFiles


def read_pair_file(path: Path, split: str, settings: PairFiles) -> Iterator[Pair]:
    """Return the pairs of a split; one without an id has the split and its line as id."""
    rows = read_rows(path)  # reports an unknown suffix before any file is read
    return checked_split(rows, lambda row: as_pair(row, split, settings), str(path))


def as_pair(row: Row, split: str, settings: PairFiles) -> Pair:
    """Convert a row by the configured columns and labels; other columns are dropped.

    Raises:
        DataError: a column is missing, a label is unknown, or a value is invalid.
    """
    fields = row.fields
    names = {part: _column(row, part, settings.columns[part]) for part in settings.columns}
    premise, hypothesis, name = names["premise"], names["hypothesis"], names["id"]
    pair_id = fields.get(name, f"{split}-{row.number}")
    pair = {
        "gold_label": _label(row, names["label"], settings),
        "sentence1": fields[premise],
        "sentence2": fields[hypothesis],
        "pairID": str(pair_id) if type(pair_id) is int else pair_id,
        **{key: fields[key] for key in PARSES if fields.get(key) is not None},
    }
    own_names = {"sentence1": premise, "sentence2": hypothesis, "pairID": name}
    return checked_pair(row._replace(fields=pair), own_names)


def _column(row: Row, part: str, names: Sequence[str]) -> str:
    """Return the first of `names` that the row has; the id is optional."""
    name = next((name for name in names if name in row.fields), names[0])
    if name in row.fields or part == "id":
        return name
    got = ", ".join(map(repr, row.fields))[:200]
    raise DataError(
        f"{row.where}: no column {' or '.join(names)}; got {got}; name the column of the {part} in "
        f"corpus.files.columns.{part}"
    )


def _label(row: Row, name: str, settings: PairFiles) -> str:
    value = row.fields[name]
    # a column of integers with a missing value is one of floats in pandas
    key = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if key not in settings.labels:
        known = ", ".join(settings.labels)
        raise DataError(
            f"{row.where}: {name} is {shown(value)}; expected one of {known}; name its meaning in "
            "corpus.files.labels"
        )
    return settings.labels[key]
