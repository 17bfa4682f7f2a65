"""Read and write sentence pairs as JSON lines: SNLI (Bowman et al. 2015) and the corpus artifact.

    {"gold_label": "neutral", "sentence1": premise, "sentence2": hypothesis, "pairID": "..."}

The artifact has the keys of SNLI and one file per split. A generated pair also has a
"reasoning_depth". In a corpus with parses, each pair has both PARSES, empty without a parse. The
label "-" means that the annotators did not agree; the stage vocabulary drops these pairs.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from actmodels.configs import LABELS
from actmodels.errors import DataError, shown
from actmodels.validators import NonNegativeInt
from pipeline.datasets.archive import member_lines
from pipeline.datasets.text_lines import unique_keys, write_lines
from pipeline.parameters.section import must_be
from pipeline.parameters.sentences import sentence
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import clean_dir

UNLABELED = "-"
PARSES = ("sentence1_binary_parse", "sentence2_binary_parse")  # see pipeline.datasets.parses
Pair = dict[str, Any]
Text = Annotated[str, Field(min_length=0)]  # with a constraint, pydantic rejects lone surrogates
# An id is written into table cells and lines.
Name = Annotated[
    str, must_be("a name of printable letters", lambda text: text.strip() and text.isprintable())
]


class SnliPair(TypedDict):
    """The keys of a pair and their types."""

    gold_label: Literal["neutral", "entailment", "contradiction", "-"]
    sentence1: Text
    sentence2: Text
    pairID: Name
    reasoning_depth: NotRequired[NonNegativeInt]
    sentence1_binary_parse: NotRequired[Text]
    sentence2_binary_parse: NotRequired[Text]


ADAPTER: TypeAdapter[Any] = TypeAdapter(SnliPair)


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of one split of the artifact."""
    with path.open("rb") as lines:
        yield from map(json.loads, lines)


def write_splits(folder: Path, source: str, splits: Mapping[str, Iterable[Pair]]) -> None:
    """Write the splits and a summary with the `source` into an empty `folder`.

    Pairs are generated while they are written, split by split. On an error, the folder is removed.
    """
    summary = {}
    with clean_dir(folder):
        for split, pairs in splits.items():
            counts: Counter[str] = Counter()
            write_lines(folder / f"{split}.jsonl", _counted(pairs, counts))
            unlabeled = counts.pop(UNLABELED, 0)
            head = {"labeled": counts.total(), "unlabeled": unlabeled}
            per_label = {label: counts[label] for label in LABELS}
            summary[split] = {"pairs": sum(head.values())} | head | per_label
        write_json(folder / "summary.json", {"source": source, "splits": summary}, indent=1)


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
    labeled = 0
    first: dict[str, int] = {}
    for number, line in member_lines(archive, member, "corpus.snli", f"snli {split}"):
        where = f"{member}, line {number}"
        pair = parse_pair(line, where)
        if (before := first.setdefault(pair["pairID"], number)) != number:
            name = shown(pair["pairID"])
            raise DataError(f"{where}: pairID is {name}, as in line {before}; expected a unique id")
        labeled += pair["gold_label"] != UNLABELED
        yield pair
    if not labeled:
        raise DataError(f"{member} in {archive} has no labeled pair; expected at least one")
    if expected is not None and labeled != expected:
        raise DataError(
            f"{member} in {archive} has {labeled} labeled pairs, expected {expected}; correct "
            f"corpus.snli.labeled_pairs.{split}, or set corpus.snli.labeled_pairs to null"
        )


def parse_pair(line: str | bytes, where: str) -> Pair:
    """Parse and validate a line; keys that are not in SnliPair are dropped.

    Raises:
        DataError: not JSON, a duplicate or missing key, or an invalid value; names `where`.
    """
    try:
        row = json.loads(line, object_pairs_hook=unique_keys)
        return ADAPTER.validate_python(row, strict=True)
    except ValidationError as error:
        raise DataError(f"{where}: {sentence(error.errors()[0], SnliPair)}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{where}: not a JSON object ({error}); expected a sentence pair"
        ) from error
