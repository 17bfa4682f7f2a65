"""Compare the splits of a corpus: labels that one lacks, and pairs that two have."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from actmodels.configs import LABELS
from actmodels.errors import DataError

FEW = 0.01  # ours: premises of two words occur in two splits by chance
Counts = Mapping[str, Mapping[str, int]]  # by split: of pairs, and of labels


class SplitComparison:
    """Counts the pairs of each split, and remembers the labeled ones by their hashes."""

    def __init__(self) -> None:
        self.labels: dict[str, Counter[str]] = {}
        self.seen: dict[str, dict[str, set[int]]] = {}

    def watched(self, split: str, pairs: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the pairs of a split; those of a split before, in any order, are an error."""
        labels = self.labels[split] = Counter[str]()
        seen = {"pairs": set[int](), "premises": set[int]()}
        for pair in pairs:
            labels[pair["gold_label"]] += 1
            if pair["gold_label"] in LABELS:
                seen["pairs"].add(hash((pair["sentence1"], pair["sentence2"])))
                seen["premises"].add(hash(pair["sentence1"]))
            yield pair
        for other, before in self.seen.items():
            if before["pairs"] == seen["pairs"]:
                raise DataError(f"{split} has the pairs of {other}; each split needs its own")
        self.seen[split] = seen

    def summary(self, origin: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts, what splits share, the majority class of the last, and notes.

        Raises:
            DataError: the last split, test, has one labeled pair, so no variance.
        """
        splits = {split: _counts(labels) for split, labels in self.labels.items()}
        shared = {
            f"{a} and {b}": {name: len(self.seen[a][name] & seen) for name, seen in of_b.items()}
            for (a, _), (b, of_b) in combinations(self.seen.items(), 2)
        }
        last, counts = [*splits.items()][-1]
        if counts["labeled"] == 1:
            problem = "has one labeled pair; expected at least two, to compare models"
            raise DataError(f"{last} {problem}")
        label = max(LABELS, key=lambda name: counts[name])
        share = round(counts[label] / max(counts["labeled"], 1), 6)
        notes = [
            *(f"{split}: {_counted(splits[split])}" for split in splits),
            *(
                f"{split}: {count:,} rows dropped: {reason}"
                for split, dropped in origin.get("dropped", {}).items()
                for reason, count in dropped.items()
            ),
            *(f"label {label} is {text}" for label, text in origin.get("labels", {}).items()),
            f"majority class of {last}: {label}, {100 * share:.1f} %",
            *_warnings(splits, shared),
        ]
        majority = {"label": label, "share": share}
        return {"splits": splits, "shared": shared, "majority": majority, "notes": notes}


def _counts(labels: Mapping[str, int]) -> dict[str, int]:
    counts = {label: labels[label] for label in LABELS}
    labeled, pairs = sum(counts.values()), sum(labels.values())
    return {"pairs": pairs, "labeled": labeled, "unlabeled": pairs - labeled} | counts


def _counted(counts: Mapping[str, int]) -> str:
    by_label = ", ".join(f"{counts[label]:,} {label}" for label in LABELS)
    dropped = f", {counts['unlabeled']:,} unlabeled dropped" if counts["unlabeled"] else ""
    return f"{counts['labeled']:,} pairs ({by_label}){dropped}"


def _warnings(splits: Counts, shared: Counts) -> Iterator[str]:
    for split, counts in splits.items():
        for label in LABELS:
            most = max(splits, key=lambda name: splits[name][label])
            if not counts[label] and (number := splits[most][label]):
                yield f"warning: {split} has no {label}, and {most} has {number:,} pairs with it"
    for names, counts in shared.items():
        if parts := [f"{number:,} {name}" for name, number in counts.items() if number]:
            smaller = min(splits[name]["labeled"] for name in names.split(" and "))
            serious = counts["pairs"] or counts["premises"] > FEW * smaller
            yield f"{'warning: ' * bool(serious)}{names} share {' and '.join(parts)}"
