"""Read sentence pairs from a file or standard input, by the columns that the model trained with."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from actmodels.errors import DataError
from pipeline.datasets.archive import in_archive
from pipeline.datasets.rows import json_row, read_rows
from pipeline.datasets.text_lines import Row, RowError, Rows, numbered_lines, text_of
from pipeline.parameters.labels import UNLABELED, label_name, meaning_of, with_lower_case

KEYS = ("premise", "hypothesis")
SNLI_KEYS = ("sentence1", "sentence2")  # as in SNLI and the corpus artifact
STANDARD_INPUT = "standard input"


class Layout(NamedTuple):
    """The settings of corpus.files in best.json: names of columns, meanings of labels, quotes."""

    columns: dict[str, list[str]]
    labels: dict[str, str]
    quotes: bool | None


class InputPair(NamedTuple):
    """A pair with its fields in the output, its id or line, and the label of its file."""

    where: str
    fields: dict[str, Any]
    premise: Any
    hypothesis: Any
    name: str = ""
    label: str | None = None


def read_file(place: str, layout: Layout) -> Iterator[InputPair]:
    """Yield the pairs of a path or ARCHIVE::MEMBER; one without an id gets the field `line`."""
    archive, _, wanted = place.partition("::")
    for path, member in in_archive(Path(archive), wanted, "FILE"):
        yield from _pairs(read_rows(path, None, member, layout.quotes), layout)


def read_lines(file: BinaryIO, layout: Layout) -> Iterator[InputPair]:
    """Yield the pairs of standard input: a JSON object a line, or premise, tab, hypothesis."""
    yield from _pairs(_standard_input(file), layout)


def _standard_input(file: BinaryIO) -> Rows:
    for number, line in numbered_lines(file, STANDARD_INPUT):
        where = f"{STANDARD_INPUT}, line {number}"
        if line.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
            yield json_row(line, where, number)
        elif text := text_of(line, where).rstrip("\n"):
            sentences = text.split("\t")
            if len(sentences) != len(KEYS):
                expected = "expected a JSON object, or premise, tab, hypothesis"
                raise DataError(f"{where}: {expected}; got {len(sentences)} fields")
            yield Row(where, number, dict(zip(KEYS, sentences, strict=True)))


def _pairs(rows: Rows, layout: Layout) -> Iterator[InputPair]:
    """Raise DataError for a malformed row, or one without the two sentences."""
    labels = with_lower_case(layout.labels)
    names = {part: layout.columns[part] for part in ("label", "id")}
    for part, own, snli in zip(KEYS, KEYS, SNLI_KEYS, strict=True):
        names[part] = [*dict.fromkeys([*layout.columns[part], own, snli])]
    for row in rows:
        if isinstance(row, RowError):
            raise row
        premise, hypothesis, label, name = (
            _first(row, names[part]) for part in (*KEYS, "label", "id")
        )
        if premise is None or hypothesis is None:
            either = " and ".join(" or ".join(map(repr, names[part])) for part in KEYS)
            listed = ", ".join(map(repr, row.fields)) or "nothing"
            raise DataError(f"{row.where}: expected the columns {either}; got {listed[:200]}")
        fields = row.fields if name else {"line": row.number} | row.fields
        meaning = meaning_of(label_name(row.fields[label]), labels) if label else None
        yield InputPair(
            *(row.where, fields, row.fields[premise], row.fields[hypothesis]),
            str(row.fields[name]) if name else f"line {fields['line']}",
            None if meaning == UNLABELED else meaning,
        )


def _first(row: Row, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in row.fields), None)
