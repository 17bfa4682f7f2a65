"""Read sentence pairs from a file or standard input, by the columns that the model trained with."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from actmodels.errors import DataError
from pipeline.datasets.archive import in_archive
from pipeline.datasets.rows import json_row, read_rows
from pipeline.datasets.text_lines import (
    Row,
    RowError,
    Rows,
    column_key,
    numbered_lines,
    text_of,
)
from pipeline.parameters.labels import UNLABELED, ClassReader, label_name

KEYS = ("premise", "hypothesis")
SNLI_KEYS = ("sentence1", "sentence2")  # as in SNLI and the corpus artifact
STANDARD_INPUT = "standard input"


class Layout(NamedTuple):
    """The settings of corpus.files in best.json, and the classes of the corpus."""

    columns: dict[str, list[str]]
    labels: dict[str, str]
    classes: list[str]
    quotes: bool | None


class InputPair(NamedTuple):
    """A pair of a file, or a malformed row.

    Attributes:
        fields: its fields in the output.
        name: its id or line.
        label: its class, or an unknown label; None without one.
        refusal: why the row is no pair.
    """

    where: str
    fields: dict[str, Any]
    premise: Any
    hypothesis: Any
    name: str = ""
    label: str | None = None
    refusal: str | None = None


def read_file(place: str, layout: Layout, classes: ClassReader) -> Iterator[InputPair]:
    """Yield the pairs of a path or ARCHIVE::MEMBER; one without an id gets the field `line`."""
    archive, _, wanted = place.partition("::")
    for path, member in in_archive(Path(archive), wanted, "FILE"):
        yield from _pairs(read_rows(path, None, member, layout.quotes), layout, classes)


def read_lines(file: BinaryIO, layout: Layout, classes: ClassReader) -> Iterator[InputPair]:
    """Yield the pairs of standard input: a JSON object a line, or premise, tab, hypothesis."""
    yield from _pairs(_standard_input(file), layout, classes)


def _standard_input(file: BinaryIO) -> Rows:
    """Yield the rows; a first line with the names of columns is that of a table with tabs."""
    header: Sequence[str] = KEYS
    for number, line in numbered_lines(file, STANDARD_INPUT):
        where = f"{STANDARD_INPUT}, line {number}"
        if line.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
            yield json_row(line, where, number)
            continue
        try:
            text = text_of(line, where).rstrip("\n")
        except RowError as error:
            yield error
            continue
        cells = text.split("\t")
        names = {column_key(cell) for cell in cells}
        if number == 1 and (names >= {*KEYS} or names >= {*SNLI_KEYS}):
            header = [cell.strip() for cell in cells]
        elif len(cells) == len(header):
            yield Row(where, number, dict(zip(header, cells, strict=True)))
        elif text:
            expected = f"expected a JSON object, or {', tab, '.join(header)}"
            yield RowError(where, f"{expected}; got {len(cells)} fields", "fields")


def _pairs(rows: Rows, layout: Layout, classes: ClassReader) -> Iterator[InputPair]:
    """Yield the pairs, and refusals; raise DataError if no row has the columns of the sentences."""
    names = {part: layout.columns[part] for part in ("label", "id")}
    for part, own, snli in zip(KEYS, KEYS, SNLI_KEYS, strict=True):
        names[part] = [*dict.fromkeys([*layout.columns[part], own, snli])]
    either = " and ".join(" or ".join(map(repr, names[part])) for part in KEYS)
    without: RowError | None = None  # the first row that has not the columns
    found = False
    for row in rows:
        if isinstance(row, RowError):
            yield _refused(row)
            continue
        premise, hypothesis, label = (row.column(names[part]) for part in (*KEYS, "label"))
        if premise is None or hypothesis is None:
            got = (", ".join(map(repr, row.fields)) or "nothing")[:200]
            error = RowError(row.where, f"expected the columns {either}; got {got}", "columns")
            without = without or error
            yield _refused(error)
            continue
        found = True
        name = next((name for name in names["id"] if name in row.fields), None)
        sentences = [row.fields[part] for part in (premise, hypothesis)]
        pair_id = row.fields[name] if name else None
        known = pair_id not in (None, "")
        fields = row.fields if known else {"line": row.number} | row.fields
        called = str(pair_id) if known else f"line {fields['line']}"
        meaning = None
        if label is not None:
            text = label_name(row.fields[label])
            meaning = classes.read(row.fields[label], "the file", row.where, sentences) or text
        meaning = None if meaning == UNLABELED else meaning
        yield InputPair(row.where, fields, sentences[0], sentences[1], called, meaning)
    if without and not found:
        advice = "name yours: --column premise=NAME --column hypothesis=NAME"
        raise DataError(f"{without}; {advice}")


def _refused(error: RowError) -> InputPair:
    name = error.where.rpartition(", ")[2]  # line 5, of a Parquet file row 5
    line = name.rpartition(" ")[2]
    return InputPair(error.where, {"line": line}, None, None, name, None, error.problem)
