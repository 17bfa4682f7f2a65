"""Read tables with commas, semicolons, tabs or pipes: with the quotes of a CSV writer, or none."""

import csv
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.datasets.text_lines import MAX_LINE_BYTES, Lines, Row, RowError, Rows, text_of

# a CSV writer doubles the quotation marks in a cell, and puts the cell into quotation marks
CELL = r'(?:"(?:[^"]++|"")*+"|[^"\t]*+)'
QUOTED_ROW = re.compile(rf"{CELL}(?:\t{CELL})*+")
SEPARATOR = re.compile(r"\ufeff?sep=(.)\s*")  # the first line of a table for Excel
COMMENT = re.compile(r"\ufeff?#[^\t;|,]*,?[^\t;|,]*")  # above the names of the columns
MAX_ROW_LINES = 20  # ours: in a longer row, a quotation mark is not closed
OPEN_MARK = f"a quotation mark opens a cell that does not end within {MAX_ROW_LINES} lines"
ESCAPE = "a backslash before a quotation mark, as of Spark or MySQL"
csv.field_size_limit(MAX_LINE_BYTES)


def csv_dialect(lines: Lines, source: str, quotes: bool | None) -> dict[str, Any]:
    """Return the arguments of csv.reader for a table."""
    texts = (line.decode(errors="replace") for _, line in lines)
    heads = (text for text in texts if text.strip() and not COMMENT.fullmatch(text))
    header = next(heads, "")
    if separator := SEPARATOR.fullmatch(header):
        header = next(heads, "")
    delimiter = separator[1] if separator else max("\t,;|", key=header.count)
    if delimiter != "\t":
        quotes = True
    elif quotes is None and (quotes := _csv_quotes(header, texts)) is None:
        note = "quotation marks around cells are kept as text, as with corpus.files.quotes=false"
        tqdm.write(f"{source}: {note}; true takes them off", file=sys.stderr)
    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    blanks = 0 < header.count(delimiter) == header.count(f"{delimiter} ")
    dialect = {"delimiter": delimiter, "quoting": quoting, "skipinitialspace": blanks}
    return dialect | {"strict": True}


def _csv_quotes(header: str, lines: Iterable[str]) -> bool | None:
    """Return whether a CSV writer wrote a table with tabs; None if nothing shows it.

    A CSV writer leaves no quotation mark outside of a quoted cell. Where all marks are in such
    cells, a doubled mark, a tab or line end in a cell, or a quoted header shows a CSV writer. It
    writes no cell whose lines have the tabs of rows.
    """
    shown, quoted, tabs = '"' in header, False, header.count("\t")
    row, marks = list[str](), 0
    for line in lines:
        row.append(line)
        marks += line.count('"')
        if marks % 2:  # the cell continues on the next line
            continue
        if marks:
            text, quoted = "".join(row).rstrip("\r\n"), True
            if not QUOTED_ROW.fullmatch(text) or _are_rows(row, tabs):
                return False
            shown = shown or '""' in text or any(part.count("\t") != tabs for part in row)
        row, marks = [], 0
    return False if row else shown or (None if quoted else False)


def _are_rows(lines: Sequence[str], tabs: int) -> bool:
    """Return whether the lines of a row have the tabs of that many rows."""
    found = sum(line.count("\t") for line in lines)
    return len(lines) > 1 and found >= tabs * len(lines) > 0


def table_rows(lines: Lines, source: str, dialect: dict[str, Any]) -> Rows:
    """Yield the rows below the line with the names of the columns; nameless columns are dropped."""
    header, several = list[str](), list[int]()
    for record in _records(lines, source, dialect):
        if isinstance(record, RowError):
            if not header:
                raise record
            yield record
            continue
        number, length, cells = record
        where = f"{source}, line {number}"
        if not header:
            header = [name if name.strip() else "" for name in cells]
            if twice := [name for name in header if name and header.count(name) > 1]:
                raise DataError(f"{where}: the header names a column twice: {twice[0]}")
        elif len(cells) == len(header):
            several += [number] * (length > 1)
            fields = dict(zip(header, cells, strict=True))
            fields.pop("", None)
            yield Row(where, number, fields)
        else:
            problem = f"{len(cells)} fields; the header has {len(header)}"
            yield RowError(where, problem, "not the number of fields of the header")
    if several:
        note = f"{len(several):,} rows have line breaks in cells; the first is line {several[0]}"
        tqdm.write(f"{source}: {note}", file=sys.stderr)


Record = tuple[int, int, list[str]]  # the first line of a row, its number of lines, its cells


def _records(lines: Lines, source: str, dialect: dict[str, Any]) -> Iterator[Record | RowError]:
    """Yield the records of a table; after a faulty one, continue at its second line."""
    fresh, again = iter(lines), deque[tuple[int, bytes]]()
    parts = list[tuple[int, bytes]]()  # lines of a record
    columns = 0  # the header is not read yet

    def texts() -> Iterator[str]:
        while line := again.popleft() if again else next(fresh, None):
            parts.append(line)
            if len(parts) > MAX_ROW_LINES:
                raise csv.Error(OPEN_MARK)
            text = text_of(line[1], f"{source}, line {line[0]}")
            above = not columns and (SEPARATOR.fullmatch(text) or COMMENT.fullmatch(text))
            yield "" if above else text

    rows = csv.reader(texts(), **dialect)
    while True:
        parts.clear()
        try:
            cells = next(rows, None)
            if cells and columns and len(parts) > 1:
                _check_lines(_texts(parts), len(cells), columns, dialect["delimiter"])
        except (csv.Error, RowError) as error:
            again.extendleft(parts[:0:-1])
            rows = csv.reader(texts(), **dialect)
            yield _fault(error, source, parts)
            continue
        if cells is None:
            return
        if cells:
            columns = columns or len(cells)
            yield parts[0][0], len(parts), cells


def _check_lines(lines: Sequence[str], cells: int, columns: int, delimiter: str) -> None:
    """Raise csv.Error if a row of several lines is rather several rows, after an open mark."""
    # a text has commas, but rarely those of a row in each of three lines
    same = len(lines) > 2 and {line.count(delimiter) for line in lines} == {columns - 1}
    if same or (delimiter == "\t" and _are_rows(lines, columns - 1)):
        raise csv.Error(OPEN_MARK)
    if cells != columns:
        fields = f"{cells} fields in {len(lines)} lines; the header has {columns}"
        raise csv.Error(f"{fields}, so a quotation mark may be open")


def _texts(parts: Sequence[tuple[int, bytes]]) -> list[str]:
    return [line.decode(errors="replace") for _, line in parts]


def _fault(error: Exception, source: str, parts: Sequence[tuple[int, bytes]]) -> RowError:
    """Return the error of a record, which names its first line."""
    problem = str(error)
    if isinstance(error, RowError) and len(parts) == 1:
        return error
    if any('\\"' in text for text in _texts(parts)):
        problem = ESCAPE
    elif problem == "unexpected end of data":
        problem = OPEN_MARK
    elif problem != OPEN_MARK and len(parts) > 1:
        problem = f"line {parts[-1][0]}: {error}, in a cell that opens here"
    problem = f"not CSV ({problem}); close the cell, and write a mark in its text twice"
    return RowError(f"{source}, line {parts[0][0]}", problem, "not CSV")
