"""Sentence pairs: of SNLI (Bowman et al. 2015), of other files (corpus.files), and of the artifact.

    {"gold_label": "neutral", "sentence1": premise, "sentence2": hypothesis, "pairID": "..."}

The artifact has the keys of SNLI and one file per split. A generated pair also has a
"reasoning_depth", and a pair with several annotators their "annotator_labels". In a corpus with
parses, each pair has both PARSES, empty without a parse. The label "-" means that the annotators
did not agree; the stage vocabulary drops these pairs.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from actmodels.errors import DataError, shown
from actmodels.validators import NonNegativeInt
from pipeline.datasets.archive import listed, member_lines, members, named
from pipeline.datasets.rows import json_row
from pipeline.datasets.splits import SENTENCES, SplitComparison
from pipeline.datasets.text_lines import Row, RowError, write_lines
from pipeline.datasets.tokenizer import tokenize
from pipeline.parameters.labels import NLI, ClassReader
from pipeline.parameters.labels import UNLABELED as UNLABELED
from pipeline.parameters.section import MustBe, sentence
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import clean_dir

ANNOTATORS = "annotator_labels"
PARSES = ("sentence1_binary_parse", "sentence2_binary_parse")  # see pipeline.datasets.tokenizer
NO_COLUMN, DUPLICATE = "no column", "an id that was used before"  # reasons of bad rows
Pair = dict[str, Any]
Text = Annotated[str, Field(min_length=0)]  # with a constraint, pydantic rejects lone surrogates
# An id is written into table cells and lines.
Name = Annotated[
    str, MustBe("a name of printable letters", lambda text: text.strip() and text.isprintable())
]


class SnliPair(TypedDict):
    """The keys of a pair and their types."""

    gold_label: Text  # a class, or -
    sentence1: Text
    sentence2: Text
    pairID: Name
    reasoning_depth: NotRequired[NonNegativeInt]
    annotator_labels: NotRequired[list[Text]]
    sentence1_binary_parse: NotRequired[Text]
    sentence2_binary_parse: NotRequired[Text]


ADAPTER: TypeAdapter[Any] = TypeAdapter(SnliPair)


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of one split of the artifact."""
    with path.open("rb") as lines:
        yield from map(json.loads, lines)


def write_splits(
    folder: Path,
    source: str,
    classes: ClassReader,
    splits: Mapping[str, Iterable[Pair]],
    origin: dict[str, Any] | None = None,
) -> list[str]:
    """Write the splits and a summary with the `source` into an empty `folder`; return its notes.

    Pairs are generated while they are written, split by split. On an error, the folder is removed.

    Args:
        classes: of the corpus, and the labels of its files when all pairs are read.
        origin: for the summary, complete when all pairs are read: SHA-256 of the files, and rows
            that were `dropped`, by split and reason.
    """
    comparison, origin = SplitComparison(classes), origin or {}
    with clean_dir(folder):
        for split, pairs in splits.items():
            watched = comparison.watched(split, pairs)
            lines = (json.dumps(pair, ensure_ascii=False) for pair in watched)
            write_lines(folder / f"{split}.jsonl", lines)
        summary = comparison.summary(origin)
        write_json(folder / "summary.json", {"source": source} | origin | summary, indent=1)
    return summary["notes"]


def read_split(archive: Path, folder: str, split: str, expected: int | None) -> Iterator[Pair]:
    """Yield the pairs of `<folder>/snli_1.0_<split>.jsonl`, the unlabeled ones included.

    Raises:
        DataError: the archive or a line is corrupt, an id is duplicated, there are no labeled
            pairs, or their number differs from `expected`.
    """
    member = f"{folder}/snli_1.0_{split}.jsonl"
    source, labeled = named(archive, member), 0
    if (names := members(archive)) and member not in names:
        advice = f"act-nli use corpus.source=files corpus.files.{split}={archive}::MEMBER"
        raise DataError(f"{archive} has no {member}; it has {listed(names)}; name one: {advice}")
    lines = member_lines(archive, member, "corpus.snli", f"snli {split}")
    rows = (json_row(line, f"{member}, line {n}", n) for n, line in lines if line.strip())
    for pair in checked_split(rows, _snli_pair, source):
        labeled += pair["gold_label"] != UNLABELED
        yield pair
    if expected is not None and labeled != expected:
        raise DataError(
            f"{source} has {labeled} labeled pairs, expected {expected}; correct "
            f"corpus.snli.labeled_pairs.{split}, or set corpus.snli.labeled_pairs to null"
        )


def _snli_pair(row: Row) -> Pair:
    pair = checked_pair(row)
    if (label := pair["gold_label"]) not in (*NLI, UNLABELED):
        problem = f"gold_label is {shown(label)}; expected one of {', '.join(NLI)}, {UNLABELED}"
        raise RowError(row.where, problem, "invalid gold_label")
    return pair


def checked_split(
    rows: Iterable[Row | RowError],
    read: Callable[[Row], Pair],
    source: str,
    bad: Callable[[RowError], object] | None = None,
) -> Iterator[Pair]:
    """Yield the pairs of a split, which `read` returns for its rows.

    Args:
        bad: called for a row without a pair, such as one whose id occurred; by default it raises.

    Raises:
        DataError: the first row has not the columns, or no pair is labeled.
    """
    labeled = False
    first: dict[str, int] = {}
    for row in rows:
        try:
            if isinstance(row, RowError):
                raise row
            pair = read(row)
            if (before := first.get(pair["pairID"])) is not None:
                problem = f"the id {shown(pair['pairID'])} was used before, at {before}"
                raise RowError(row.where, f"{problem}; expected a unique id", DUPLICATE)
        except RowError as error:
            if bad is None or (error.reason == NO_COLUMN and not first):
                raise
            bad(error)
            continue
        first[pair["pairID"]] = row.number
        labeled = labeled or pair["gold_label"] != UNLABELED
        yield pair
    if not labeled:
        raise DataError(f"{source} has no labeled pair; expected at least one")


def checked_pair(row: Row, names: Mapping[str, str] | None = None) -> Pair:
    """Validate the fields of a pair; keys that are not in SnliPair are dropped.

    Args:
        names: names of the keys in a file of the user, for messages.

    Raises:
        DataError: a missing key or an invalid value, or a labeled pair has an empty sentence.
    """
    names = names or {}
    try:
        pair: Pair = ADAPTER.validate_python(row.fields, strict=True)
    except ValidationError as error:
        details = error.errors()[0]
        details["loc"] = tuple(names.get(str(key), key) for key in details["loc"])
        key = f"invalid {details['loc'][0]}" if details["loc"] else "invalid"
        raise RowError(row.where, sentence(details, SnliPair), key) from None
    for key in SENTENCES:
        # marks alone are a sentence of SNLI, whose pairs are counted
        words = any(map(str.isalnum, pair[key])) or (not names and tokenize(pair[key], False))
        if pair["gold_label"] != UNLABELED and not words:
            problem = f"{names.get(key, key)} has no words"
            raise RowError(row.where, f"{problem}; correct or remove the pair", problem)
    return pair
