"""Compare the splits of a corpus: labels that one lacks, pairs that two have, and their words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from actmodels.configs import LABELS
from actmodels.errors import DataError
from pipeline.datasets.tokenizer import is_word, tokenize

FEW_WORDS = 0.05  # ours: a share of common words below which two splits differ in language
FEW = 0.01  # ours: premises of two words occur in two splits by chance
SENTENCES = ("sentence1", "sentence2")
Counts = Mapping[str, Mapping[str, int]]  # by split: of pairs, and of labels


class SplitComparison:
    """Counts the pairs of each split, and remembers the labeled ones by hashes of their tokens."""

    def __init__(self) -> None:
        self.labels: dict[str, Counter[str]] = {}
        self.seen: dict[str, dict[str, set[int]]] = {}
        self.words: dict[str, set[str]] = {}
        self.several: dict[str, int] = {}  # pairs with two labels or more

    def watched(self, split: str, pairs: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the pairs of a split; those of another split are an error.

        Two pairs are equal if their tokens are, in lower case.
        """
        labels = self.labels[split] = Counter[str]()
        premises, words, first, several = set[int](), set[str](), dict[int, str](), set[int]()
        for pair in pairs:
            labels[label := pair["gold_label"]] += 1
            if label in LABELS:
                premise, hypothesis = (tokenize(pair[key], True) for key in SENTENCES)
                if first.setdefault(key := hash((premise, hypothesis)), label) != label:
                    several.add(key)
                premises.add(hash(premise))
                words.update(premise, hypothesis)
            yield pair
        seen = {"pairs": {*first}, "premises": premises}
        self.words[split], self.several[split] = {*filter(is_word, words)}, len(several)
        for other, before in self.seen.items():
            if before["pairs"] == seen["pairs"]:
                raise DataError(f"{split} has the pairs of {other}; each split needs its own")
        self.seen[split] = seen

    def summary(self, origin: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts, what splits share, the majority class of the last, and notes.

        Raises:
            DataError: the last split, test, has one labeled pair, so no variance; or all pairs
                have one label.
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
        present = [label for label in LABELS if any(split[label] for split in splits.values())]
        if len(present) == 1:
            raise DataError(f"all pairs are {present[0]}; expected two labels or more")
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
            *self._repeated(splits),
            *self._other_words(),
        ]
        majority = {"label": label, "share": share}
        return {"splits": splits, "shared": shared, "majority": majority, "notes": notes}

    def _repeated(self, splits: Counts) -> Iterator[str]:
        for split, several in self.several.items():
            if number := splits[split]["labeled"] - len(self.seen[split]["pairs"]):
                conflict = f", and has {several:,} pairs with two labels or more" * bool(several)
                yield f"{'warning: ' * bool(several)}{split} repeats {number:,} pairs{conflict}"

    def _other_words(self) -> Iterator[str]:
        for (a, of_a), (b, of_b) in combinations(self.words.items(), 2):
            common, fewer = len(of_a & of_b), min(len(of_a), len(of_b))
            if common < FEW_WORDS * fewer:
                counted = f"{a} and {b} share {common:,} of {fewer:,} words"
                yield f"warning: {counted}; expected texts in one language"


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
