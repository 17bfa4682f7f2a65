"""The Stanford Natural Language Inference corpus (Bowman et al. 2015), read from its archive."""

import json
from collections.abc import Iterator
from pathlib import Path

from actmodels.data.labels import LABELS
from actmodels.errors import DataError
from pipeline.sources.archive import member_lines
from pipeline.sources.jsonl import DEPTH, UNLABELLED, Pair, parse_pair

KNOWN_LABELS = (*LABELS, UNLABELLED)
KEYS = ("pairID", "gold_label", "sentence1", "sentence2")


def read_split(archive: Path, folder: str, split: str, expected: int | None) -> Iterator[Pair]:
    """Yield the pairs of `<folder>/snli_1.0_<split>.jsonl`, the unlabelled ones included.

    Args:
        folder: folder of the three files inside the archive.
        split: train, dev or test.
        expected: labelled pairs that the split must have; None does not check.

    Raises:
        DataError: the archive or a line is damaged (names the line), or the count differs.
    """
    member = f"{folder}/snli_1.0_{split}.jsonl"
    labelled = 0
    for number, line in member_lines(archive, member, f"snli {split}"):
        pair = checked_pair(line, f"{member}, line {number}")
        labelled += pair.label != UNLABELLED
        yield pair
    if expected is not None and labelled != expected:
        raise DataError(
            f"{member} in {archive}: the {split} split has {labelled} labelled pairs, expected "
            f"{expected} (corpus.snli.labelled_pairs.{split}); for another version of the corpus "
            "correct the number, or switch the check off with corpus.snli.labelled_pairs: null"
        )


def checked_pair(line: str | bytes, where: str) -> Pair:
    """Read one line of a file that others wrote.

    Raises:
        DataError: not JSON, a key is missing or not a string, or the label is unknown.
    """
    try:
        pair = parse_pair(line)
    except KeyError as error:
        raise DataError(f"{where}: the key {error} is missing") from error
    except (ValueError, TypeError, RecursionError) as error:
        reason: object = error
        if isinstance(
            error, json.JSONDecodeError
        ):  # whose own message counts lines within this one
            reason = f"{error.msg} at column {error.pos + 1}"
        raise DataError(
            f"{where}: not a JSON object ({reason}); expected one sentence pair per line"
        ) from error
    for key, value in zip(KEYS, pair, strict=False):
        if not isinstance(value, str):
            raise DataError(f"{where}: the key {key!r} is {value!r}; expected a string")
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise DataError(
                f"{where}: the text of {key!r} holds half a character (a lone surrogate)"
            )
    if pair.label not in KNOWN_LABELS:
        known = ", ".join(KNOWN_LABELS)
        raise DataError(f"{where}: unknown gold_label {pair.label!r}; expected one of {known}")
    if type(pair.depth) is not int or pair.depth < 0:
        raise DataError(f"{where}: {DEPTH} is {pair.depth!r}; expected a whole number of facts")
    return pair
