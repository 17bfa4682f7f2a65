"""Answers as people and as programs read them: text, JSON lines, CSV."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from actmodels.data.labels import LABELS
from actmodels.errors import DataError
from pipeline.answering.answer import Answer
from pipeline.predict.explain import explained, in_words
from pipeline.predict.read import Row
from pipeline.predict.style import Style

FORMATS = ("text", "jsonl", "csv")
ADDED = ("predicted", *LABELS, "steps", "unknown_words", "attention")

Formatter = Callable[[Row, Answer], str]


def formatter(name: str, rows: Sequence[Row], style: Style, *, explain: bool) -> Formatter:
    """How a pair and its answer are written, by the name of a format.

    Args:
        rows: the pairs to come; those of a table decide on its columns.

    Raises:
        DataError: a pair has a field with the name of one that the answer adds.
    """
    if name == "text":
        shown = (lambda answer: explained(answer, style)) if explain else in_words
        return lambda _, answer: shown(answer) + "\n"
    for row in rows:
        for field in row.fields:
            if field in ADDED:
                raise DataError(
                    f"{row.where}: {field!r} is what the answer would be called; rename it"
                )
    if name == "jsonl":
        return _json_line
    given = dict.fromkeys(field for row in rows for field in row.fields)
    return _Table([*given, *ADDED[:-1]])


def answered(row: Row, answer: Answer) -> dict[str, Any]:
    """What was given, followed by the answer."""
    attention = {} if answer.attention is None else {"attention": answer.attention}
    return {**row.fields, **answer.row(), **attention}


def _json_line(row: Row, answer: Answer) -> str:
    return json.dumps(answered(row, answer), ensure_ascii=False) + "\n"


class _Table:
    """Rows of a table, the header in front of the first."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns
        self.begun = False

    def __call__(self, row: Row, answer: Answer) -> str:
        text = io.StringIO()
        writer = csv.DictWriter(
            text, self.columns, extrasaction="ignore", restval="", lineterminator="\n"
        )
        if not self.begun:
            writer.writeheader()
        self.begun = True
        fields = answered(row, answer)
        writer.writerow({name: _cell(value) for name, value in fields.items()})
        return text.getvalue()


def _cell(value: Any) -> Any:
    """What JSON nests stays JSON in a table."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
