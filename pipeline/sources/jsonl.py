"""The corpus artefact: one JSON object per line, one file per split, keyed as SNLI keys its own.

    {"gold_label": "neutral", "sentence1": premise, "sentence2": hypothesis, "pairID": "..."}

A pair of our own corpus also records its "reasoning_depth". A label of "-" means that the
annotators did not agree; such pairs are kept here and dropped by a later stage.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from actmodels.data.labels import LABELS
from actmodels.errors import ArtefactError, DataError
from actmodels.files import replacing

UNLABELLED = "-"
KNOWN_LABELS = (*LABELS, UNLABELLED)
DEPTH_KEY = "reasoning_depth"


class Pair(NamedTuple):
    """A sentence pair; label is one of LABELS or "-"; depth is 0 where none is recorded."""

    pair_id: str
    label: str
    premise: str
    hypothesis: str
    depth: int = 0


def format_pair(pair: Pair) -> str:
    """One line of the artefact, without its newline."""
    row: dict[str, str | int] = {
        "gold_label": pair.label,
        "sentence1": pair.premise,
        "sentence2": pair.hypothesis,
        "pairID": pair.pair_id,
    }
    if pair.depth:
        row[DEPTH_KEY] = pair.depth
    return json.dumps(row, ensure_ascii=False)


def parse_pair(line: str | bytes, source: str, number: int) -> Pair:
    """Read one line, ignoring keys that are not ours.

    Args:
        line: a JSON object, SNLI's own (with parse trees) or ours.
        source, number: file and line for messages; lines count from 1.

    Raises:
        DataError: not JSON, a key is missing or not a string, or the label is unknown.
    """
    where = f"{source}, line {number}"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        # JSON's own message counts lines within this one line
        reason = (
            f"{error.msg} at column {error.pos + 1}"
            if isinstance(error, json.JSONDecodeError)
            else error
        )
        raise DataError(
            f"{where}: not a JSON object ({reason}); expected one sentence pair per line"
        ) from error
    if not isinstance(row, dict):
        raise DataError(f"{where}: expected a JSON object, found {type(row).__name__}")
    label = _text(row, "gold_label", where)
    if label not in KNOWN_LABELS:
        known = ", ".join(KNOWN_LABELS)
        raise DataError(f"{where}: unknown gold_label {label!r}; expected one of {known}")
    depth = row.get(DEPTH_KEY, 0)
    if type(depth) is not int or depth < 0:
        raise DataError(f"{where}: {DEPTH_KEY} is {depth!r}; expected a whole number of facts")
    premise, hypothesis = _text(row, "sentence1", where), _text(row, "sentence2", where)
    return Pair(_text(row, "pairID", where), label, premise, hypothesis, depth)


def _text(row: dict[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        problem = f"is {value!r}; expected a string" if key in row else "is missing"
        raise DataError(f"{where}: the key {key!r} {problem}")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise DataError(f"{where}: the text of {key!r} holds half a character (a lone surrogate)")
    return value


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of one split in file order.

    Raises:
        ArtefactError: the file is missing.
        DataError: a line is malformed; names file and line.
    """
    if not path.is_file():
        raise ArtefactError(f"{path} is missing; run the stage that makes it: dvc repro corpus")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            yield parse_pair(line, str(path), number)


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """Write one split atomically: an error while `pairs` is drawn leaves no file behind."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        for pair in pairs:
            out.write(format_pair(pair) + "\n")
