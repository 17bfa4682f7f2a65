"""The corpus artefact: one JSON object per line, one file per split, keyed as SNLI keys its own.

    {"gold_label": "neutral", "sentence1": premise, "sentence2": hypothesis, "pairID": "..."}

A pair of our own corpus also records its "reasoning_depth". A label of "-" means that the
annotators did not agree; such pairs are kept here and dropped by a later stage.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from actmodels.data.labels import LABELS
from actmodels.files import replacing, write_text
from pipeline.running.stage import fresh

UNLABELLED = "-"
DEPTH = "reasoning_depth"


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
        row[DEPTH] = pair.depth
    return json.dumps(row, ensure_ascii=False)


def parse_pair(line: str | bytes) -> Pair:
    """Read one line, ignoring keys that are not ours.

    Raises:
        ValueError: no JSON. KeyError: a key is missing.
    """
    row = json.loads(line)
    sentences = (row["sentence1"], row["sentence2"])
    return Pair(row["pairID"], row["gold_label"], *sentences, row.get(DEPTH, 0))


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
        write_text(folder / "summary.json", json.dumps(told, indent=1) + "\n")


def _summary(counts: Counter[str]) -> dict[str, int]:
    per_label = {label: counts[label] for label in LABELS}
    labelled = sum(per_label.values())
    head = {"pairs": counts.total(), "labelled": labelled, "unlabelled": counts[UNLABELLED]}
    return head | per_label
