"""Read tables with commas, semicolons, or tabs: with the quotes of a CSV writer, or none."""

import csv
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.datasets.text_lines import MAX_LINE_BYTES, Lines, Row, RowError, Rows, text_of

# a CSV writer doubles the quotation marks in a cell, and puts the cell into quotation marks
CELL = r'(?:"(?:[^"]++|"")*+"|[^"\t]*+)'
QUOTED_ROW = re.compile(rf"{CELL}(?:\t{CELL})*+")
SEPARATOR = re.compile(r"\ufeff?sep=(.)\s*")  # the first line of a table for Excel
csv.field_size_limit(MAX_LINE_BYTES)


def csv_dialect(lines: Lines, source: str, quotes: bool | None) -> dict[str, Any]:
    """Return the arguments of csv.reader for a table."""
    texts = (line.decode(errors="replace") for _, line in lines)
    header = next(filter(str.strip, texts), "")
    separator = SEPARATOR.fullmatch(header)
    delimiter = separator[1] if separator else max("\t,;", key=header.count)
    if delimiter != "\t":
        quotes = True
    elif quotes is None and (quotes := _csv_quotes(header, texts)) is None:
        note = "quotation marks around cells are kept as text, as with corpus.files.quotes=false"
        tqdm.write(f"{source}: {note}; true takes them off", file=sys.stderr)
    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    return {"delimiter": delimiter, "quoting": quoting, "strict": True}


def _csv_quotes(header: str, lines: Iterable[str]) -> bool | None:
    """Return whether a CSV writer wrote a table with tabs; None if nothing shows it.

    A CSV writer leaves no quotation mark outside of a quoted cell. Where all marks are in such
    cells, a doubled mark, a tab or line end in a cell, or a quoted header shows a CSV writer.
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
            if not QUOTED_ROW.fullmatch(text):
                return False
            shown = shown or '""' in text or any(part.count("\t") != tabs for part in row)
        row, marks = [], 0
    return False if row else shown or (None if quoted else False)


def table_rows(lines: Lines, source: str, dialect: dict[str, Any]) -> Rows:
    """Yield the rows below the line with the names of the columns; nameless columns are dropped."""
    bad: list[RowError] = []

    def texts() -> Iterator[str]:
        for number, line in lines:
            try:
                text = text_of(line, f"{source}, line {number}")
            except RowError as error:
                bad.append(error)
                text = ""
            yield "" if number == 1 and SEPARATOR.fullmatch(text) else text

    rows, header = csv.reader(texts(), **dialect), list[str]()
    while True:
        try:
            values = next(rows, None)
        except csv.Error as error:
            values = []
            bad.append(RowError(f"{source}, line {rows.line_num}", f"not CSV ({error})", "not CSV"))
        if bad and not header:
            raise bad[0]
        yield from bad
        bad.clear()
        if values is None:
            return
        where = f"{source}, line {rows.line_num}"
        if not header:
            header = [name if name.strip() else "" for name in values]
            if twice := [name for name in header if name and header.count(name) > 1]:
                raise DataError(f"{where}: the header names a column twice: {twice[0]}")
        elif len(values) == len(header):
            fields = dict(zip(header, values, strict=True))
            fields.pop("", None)
            yield Row(where, rows.line_num, fields)
        elif values:
            problem = f"{len(values)} fields; the header has {len(header)}"
            yield RowError(where, problem, "not the number of fields of the header")
