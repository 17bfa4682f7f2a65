"""Sentence pairs, one JSON object per line: the corpus artefact, and SNLI, whose keys it has.

    {"gold_label": "neutral", "sentence1": premise, "sentence2": hypothesis, "pairID": "..."}

The artefact has one file per split. A pair of our own corpora also records its "reasoning_depth",
and of a corpus with parses "sentence1_binary_parse" and "sentence2_binary_parse", SNLI's keys.
A label of "-" means that the annotators did not agree; such pairs are kept here and dropped by a
later stage. The Stanford Natural Language Inference corpus (Bowman et al. 2015) is read from its
archive.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from actmodels.errors import DataError, shown
from actmodels.files import replacing
from actmodels.settings import LABELS
from pipeline.running.results import write_json
from pipeline.running.stage import fresh
from pipeline.sources.archive import member_lines
from pipeline.sources.lines import single_keys

UNLABELLED = "-"
DEPTH = "reasoning_depth"
KNOWN_LABELS = (*LABELS, UNLABELLED)
PARSES = ("sentence1_binary_parse", "sentence2_binary_parse")
KEYS = ("pairID", "gold_label", "sentence1", "sentence2")


class Pair(NamedTuple):
    """A sentence pair.

    label: one of LABELS or "-". depth: 0 where none is recorded. premise_parse, hypothesis_parse:
    see pipeline.sources.parses; None where parses are not kept, empty where there is none.
    """

    pair_id: str
    label: str
    premise: str
    hypothesis: str
    depth: int = 0
    premise_parse: str | None = None
    hypothesis_parse: str | None = None


def format_pair(pair: Pair) -> str:
    """One line of the artefact, without its newline."""
    row: dict[str, str | int] = {
        "gold_label": pair.label,
        "sentence1": pair.premise,
        "sentence2": pair.hypothesis,
        "pairID": pair.pair_id,
    }
    if pair.depth:
        row[DEPTH] = pair.depth
    for key, parse in zip(PARSES, (pair.premise_parse, pair.hypothesis_parse), strict=True):
        if parse is not None:
            row[key] = parse
    return json.dumps(row, ensure_ascii=False)


def parse_pair(line: str | bytes) -> Pair:
    """Read one line, ignoring keys that are not ours.

    Raises:
        ValueError: no JSON, or a key is given twice. KeyError: a key is missing.
    """
    row = json.loads(line, object_pairs_hook=single_keys)
    sentences = (row["sentence1"], row["sentence2"])
    parses = (row.get(key) for key in PARSES)
    return Pair(row["pairID"], row["gold_label"], *sentences, row.get(DEPTH, 0), *parses)


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of one split in file order."""
    with path.open("rb") as lines:
        yield from map(parse_pair, lines)


def write_splits(folder: Path, source: str, splits: Mapping[str, Iterable[Pair]]) -> None:
    """Replace what is in `folder` by these splits; on any error the folder is gone.

    The summary names the `source`, so that figures are never read as those of another corpus.
    Each split is drawn from its iterable while it is written, in the order of the mapping.
    """
    summary = {}
    with fresh(folder):
        for split, pairs in splits.items():
            counts: Counter[str] = Counter()
            with (
                replacing(folder / f"{split}.jsonl") as temporary,
                temporary.open("w", encoding="utf-8", newline="\n") as out,
            ):
                for pair in pairs:
                    out.write(format_pair(pair) + "\n")
                    counts[pair.label] += 1
            summary[split] = _summary(counts)
        told = {"source": source, "splits": summary}
        write_json(folder / "summary.json", told, indent=1)


def _summary(counts: Counter[str]) -> dict[str, int]:
    per_label = {label: counts[label] for label in LABELS}
    labelled = sum(per_label.values())
    head = {"pairs": counts.total(), "labelled": labelled, "unlabelled": counts[UNLABELLED]}
    return head | per_label


def read_split(archive: Path, folder: str, split: str, expected: int | None) -> Iterator[Pair]:
    """Yield the pairs of `<folder>/snli_1.0_<split>.jsonl`, the unlabelled ones included.

    Args:
        folder: folder of the three files inside the archive.
        split: train, dev or test.
        expected: labelled pairs that the split must have; None does not check.

    Raises:
        DataError: the archive or a line is damaged (names the line), two pairs have one id, none
            is labelled, or the count differs.
    """
    member = f"{folder}/snli_1.0_{split}.jsonl"
    labelled = 0
    first: dict[str, int] = {}
    for number, line in member_lines(archive, member, "corpus.snli", f"snli {split}"):
        pair = checked_pair(line, f"{member}, line {number}")
        if (before := first.setdefault(pair.pair_id, number)) != number:
            raise DataError(
                f"{member}, line {number}: the pairID {shown(pair.pair_id)} is that of line "
                f"{before}; expected another for each pair"
            )
        labelled += pair.label != UNLABELLED
        yield pair
    if not labelled:
        raise DataError(f"{member} in {archive} has no labelled pair; expected at least one")
    if expected is not None and labelled != expected:
        raise DataError(
            f"{member} in {archive}: the {split} split has {labelled} labelled pairs, expected "
            f"{expected} (corpus.snli.labelled_pairs.{split}); for another version of the corpus "
            "correct the number, or switch the check off with corpus.snli.labelled_pairs: null"
        )


def checked_pair(line: str | bytes, where: str) -> Pair:
    """Read one line of a file that others wrote.

    Raises:
        DataError: not JSON, a key is missing or not a string, an id that is no name, or the label
            is unknown.
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
    parses = [
        (key, value) for key, value in zip(PARSES, pair[-2:], strict=True) if value is not None
    ]
    for key, value in (*zip(KEYS, pair, strict=False), *parses):
        if not isinstance(value, str):
            raise DataError(f"{where}: the key {key!r} is {value!r}; expected a string")
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise DataError(
                f"{where}: the text of {key!r} holds half a character (a lone surrogate)"
            )
    if not pair.pair_id.strip() or not pair.pair_id.isprintable():  # a field, a line of its own
        raise DataError(
            f"{where}: the pairID {shown(pair.pair_id)} is empty or not of printable letters; "
            "expected a name"
        )
    if pair.label not in KNOWN_LABELS:
        known = ", ".join(KNOWN_LABELS)
        raise DataError(f"{where}: unknown gold_label {pair.label!r}; expected one of {known}")
    if type(pair.depth) is not int or not 0 <= pair.depth < 10**9:
        raise DataError(f"{where}: {DEPTH} is {pair.depth!r}; expected a whole number of facts")
    return pair
