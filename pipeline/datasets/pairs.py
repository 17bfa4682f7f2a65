"""Sentence pairs: of SNLI (Bowman et al. 2015), of other files (corpus.files), and of the artifact.

    {"gold_label": "neutral", "sentence1": premise, "sentence2": hypothesis, "pairID": "..."}

The artifact has the keys of SNLI and one file per split. A generated pair also has a
"reasoning_depth", and a pair with several annotators their "annotator_labels". In a corpus with
parses, each pair has both PARSES, empty without a parse. The label "-" means that the annotators
did not agree; the stage vocabulary drops these pairs.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from actmodels.configs import LABELS
from actmodels.errors import DataError, shown
from actmodels.validators import NonNegativeInt
from pipeline.datasets.archive import member_lines, named
from pipeline.datasets.rows import Row, jsonl_rows, read_rows
from pipeline.datasets.splits import SplitComparison
from pipeline.datasets.text_lines import write_lines
from pipeline.parameters.schema import COLUMNS, PairFiles
from pipeline.parameters.section import MustBe
from pipeline.parameters.sentences import sentence
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import clean_dir

UNLABELED = "-"
ANNOTATORS = "annotator_labels"
PARSES = ("sentence1_binary_parse", "sentence2_binary_parse")  # see pipeline.datasets.parses
Pair = dict[str, Any]
Text = Annotated[str, Field(min_length=0)]  # with a constraint, pydantic rejects lone surrogates
# An id is written into table cells and lines.
Name = Annotated[
    str, MustBe("a name of printable letters", lambda text: text.strip() and text.isprintable())
]


class SnliPair(TypedDict):
    """The keys of a pair and their types."""

    gold_label: Literal["neutral", "entailment", "contradiction", "-"]
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
    splits: Mapping[str, Iterable[Pair]],
    digests: Mapping[str, str] | None = None,
) -> list[str]:
    """Write the splits and a summary with the `source` into an empty `folder`; return its notes.

    Pairs are generated while they are written, split by split. On an error, the folder is removed.

    Args:
        digests: SHA-256 of the files that the pairs come from, by name.
    """
    summary: dict[str, dict[str, int]] = {}
    comparison = SplitComparison()
    with clean_dir(folder):
        for split, pairs in splits.items():
            counts: Counter[str] = Counter()
            watched = comparison.watched(split, pairs)
            write_lines(folder / f"{split}.jsonl", _counted(watched, counts))
            unlabeled = counts.pop(UNLABELED, 0)
            totals = {"labeled": counts.total(), "unlabeled": unlabeled}
            per_label = {label: counts[label] for label in LABELS}
            summary[split] = {"pairs": sum(totals.values())} | totals | per_label
        head = {"source": source} | ({"sha256": digests} if digests else {})
        compared = comparison.summary(summary)
        write_json(folder / "summary.json", head | {"splits": summary} | compared, indent=1)
    return compared["notes"]


def _counted(pairs: Iterable[Pair], counts: Counter[str]) -> Iterator[str]:
    for pair in pairs:
        counts[pair["gold_label"]] += 1
        yield json.dumps(pair, ensure_ascii=False)


def read_split(archive: Path, folder: str, split: str, expected: int | None) -> Iterator[Pair]:
    """Yield the pairs of `<folder>/snli_1.0_<split>.jsonl`, the unlabeled ones included.

    Raises:
        DataError: the archive or a line is corrupt, an id is duplicated, there are no labeled
            pairs, or their number differs from `expected`.
    """
    member = f"{folder}/snli_1.0_{split}.jsonl"
    source, labeled = named(archive, member), 0
    rows = jsonl_rows(member_lines(archive, member, "corpus.snli", f"snli {split}"), member)
    for pair in checked_split(rows, checked_pair, source):
        labeled += pair["gold_label"] != UNLABELED
        yield pair
    if expected is not None and labeled != expected:
        raise DataError(
            f"{source} has {labeled} labeled pairs, expected {expected}; correct "
            f"corpus.snli.labeled_pairs.{split}, or set corpus.snli.labeled_pairs to null"
        )


def read_pair_file(path: Path, split: str, settings: PairFiles) -> Iterator[Pair]:
    """Return the pairs of a split; one without an id has the split and its line as id."""
    columns = {*PARSES, ANNOTATORS, *chain.from_iterable(settings.columns.values())}
    rows = read_rows(path, columns)  # reports an unknown suffix before any file is read
    return checked_split(rows, lambda row: as_pair(row, split, settings), str(path))


def as_pair(row: Row, split: str, settings: PairFiles) -> Pair:
    """Convert a row by the configured columns and labels; other columns are dropped.

    Raises:
        DataError: a column is missing, a label is unknown, or a value is invalid.
    """
    fields = row.fields
    names = {part: _column(row, part, settings.columns[part]) for part in settings.columns}
    premise, hypothesis, label, name = (names[part] for part in COLUMNS)
    if len({premise, hypothesis, label}) < 3:
        problem = f"premise, hypothesis and label are the columns {premise}, {hypothesis}, {label}"
        raise DataError(f"{row.where}: {problem}; name one for each in corpus.files.columns")
    pair_id = fields.get(name, f"{split}-{row.number}")
    pair = {
        "gold_label": _label(row, label, settings),
        "sentence1": fields[premise],
        "sentence2": fields[hypothesis],
        "pairID": str(pair_id) if type(pair_id) is int else pair_id,
        **{key: fields[key] for key in PARSES if fields.get(key) is not None},
        **({ANNOTATORS: labels} if isinstance(labels := fields.get(ANNOTATORS), list) else {}),
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


def checked_split(rows: Iterable[Row], read: Callable[[Row], Pair], source: str) -> Iterator[Pair]:
    """Yield the pairs of a split, which `read` returns for its rows.

    Raises:
        DataError: an id occurs twice, or no pair is labeled.
    """
    labeled = False
    first: dict[str, int] = {}
    for row in rows:
        pair = read(row)
        if (before := first.setdefault(pair["pairID"], row.number)) != row.number:
            problem = f"the id {shown(pair['pairID'])} was used before, at {before}"
            raise DataError(f"{row.where}: {problem}; expected a unique id")
        labeled = labeled or pair["gold_label"] != UNLABELED
        yield pair
    if not labeled:
        raise DataError(f"{source} has no labeled pair; expected at least one")


def checked_pair(row: Row, names: Mapping[str, str] | None = None) -> Pair:
    """Validate the fields of a pair; keys that are not in SnliPair are dropped.

    Args:
        names: names of the keys in the file, for messages.

    Raises:
        DataError: a missing key or an invalid value, or a labeled pair has an empty sentence.
    """
    names = names or {}
    try:
        pair: Pair = ADAPTER.validate_python(row.fields, strict=True)
    except ValidationError as error:
        details = error.errors()[0]
        details["loc"] = tuple(names.get(str(key), key) for key in details["loc"])
        raise DataError(f"{row.where}: {sentence(details, SnliPair)}") from None
    for key in ("sentence1", "sentence2"):
        if pair["gold_label"] != UNLABELED and not pair[key].strip():
            problem = f"{names.get(key, key)} has no words; correct or remove the pair"
            raise DataError(f"{row.where}: {problem}")
    return pair
