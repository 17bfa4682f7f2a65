"""Write the corpus artefact: the jsonl file of every split, and a summary of their counts."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from actmodels.data.labels import LABELS
from actmodels.files import write_text
from pipeline.sources.fresh import fresh
from pipeline.sources.jsonl import UNLABELLED, Pair, write_pairs


def write_splits(folder: Path, source: str, splits: Mapping[str, Iterable[Pair]]) -> None:
    """Replace what is in `folder` by these splits; on any error the folder is gone.

    The summary names the `source`, so that figures are never read as those of another corpus.
    Each split is drawn from its iterable while it is written, in the order of the mapping.
    """
    summary = {}
    with fresh(folder):
        for split, pairs in splits.items():
            counts: Counter[str] = Counter()
            write_pairs(folder / f"{split}.jsonl", _counted(pairs, counts))
            summary[split] = _summary(counts)
        write_text(
            folder / "summary.json",
            json.dumps({"source": source, "splits": summary}, indent=1) + "\n",
        )


def _counted(pairs: Iterable[Pair], counts: Counter[str]) -> Iterator[Pair]:
    for pair in pairs:
        counts[pair.label] += 1
        yield pair


def _summary(counts: Counter[str]) -> dict[str, int]:
    per_label = {label: counts[label] for label in LABELS}
    labelled = sum(per_label.values())
    head = {"pairs": counts.total(), "labelled": labelled, "unlabelled": counts[UNLABELLED]}
    return head | per_label
