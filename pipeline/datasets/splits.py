"""Compare the splits of a corpus: labels that one lacks, pairs that two have, and their words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from actmodels.errors import DataError
from pipeline.datasets.tokenizer import is_word, tokenize
from pipeline.parameters.labels import ClassReader, classes_command

FEW_WORDS = 0.05  # ours: a share of common words below which two splits differ in language
FEW = 0.01  # ours: premises of two words occur in two splits by chance
SENTENCES = ("sentence1", "sentence2")
Counts = Mapping[str, Mapping[str, Any]]  # by split: of pairs, and of classes


class SplitComparison:
    """Counts the pairs of each split, and remembers the labeled ones by hashes of their tokens."""

    def __init__(self, reader: ClassReader) -> None:
        self.reader, self.classes = reader, reader.classes
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
            if label in self.classes:
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
            DataError: no pair is of one of the classes; or the last split, test, has one labeled
                pair, so no variance.
        """
        self._check_classes()
        splits = {split: self._counts(labels) for split, labels in self.labels.items()}
        shared = {
            f"{a} and {b}": {name: len(self.seen[a][name] & seen) for name, seen in of_b.items()}
            for (a, _), (b, of_b) in combinations(self.seen.items(), 2)
        }
        last, counts = [*splits.items()][-1]
        if counts["labeled"] == 1:
            problem = "has one labeled pair; expected at least two, to compare models"
            raise DataError(f"{last} {problem}")
        label = max(self.classes, key=lambda name: counts["classes"][name])
        share = round(counts["classes"][label] / max(counts["labeled"], 1), 6)
        notes = [
            *(f"{split}: {_counted(splits[split])}" for split in splits),
            *(
                f"{split}: {count:,} rows dropped: {reason}"
                for split, dropped in origin.get("dropped", {}).items()
                for reason, count in dropped.items()
            ),
            *self.reader.notes,
            f"majority class of {last}: {label}, {100 * share:.1f} %",
            *_warnings(splits, shared),
            *self._repeated(splits),
            *self._other_words(),
        ]
        majority = {"label": label, "share": share}
        found = {"splits": splits, "shared": shared, "majority": majority, "notes": notes}
        return {"classes": [*self.classes]} | found

    def _check_classes(self) -> None:
        """Raise DataError if no pair of files is of a class, or the numbers are ambiguous."""
        if question := self.reader.question():
            raise DataError(question)
        pairs = Counter[str]()
        for labels in self.labels.values():
            pairs += labels
        absent = [name for name in self.classes if not pairs[name]]
        if absent and self.reader.seen:
            present = [name for name in self.classes if pairs[name]]
            problem = f"no pair of any split is {' or '.join(absent)}"
            if len(present) == 1:
                problem += f", all are {present[0]}; expected at least two classes"
            ways = [self.reader.advice()]
            if len(present) > 1 and classes_command(present) not in ways[0]:
                ways.append(f"for these classes alone: {classes_command(present)}")
            raise DataError(f"{problem}; {'; '.join(ways)}")

    def _counts(self, labels: Mapping[str, int]) -> dict[str, Any]:
        classes = {name: labels[name] for name in self.classes}
        labeled, pairs = sum(classes.values()), sum(labels.values())
        counts = {"pairs": pairs, "labeled": labeled, "unlabeled": pairs - labeled}
        return counts | {"classes": classes}

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


def _counted(counts: Mapping[str, Any]) -> str:
    by_label = ", ".join(f"{number:,} {name}" for name, number in counts["classes"].items())
    dropped = f", {counts['unlabeled']:,} unlabeled dropped" if counts["unlabeled"] else ""
    return f"{counts['labeled']:,} pairs ({by_label}){dropped}"


def _warnings(splits: Counts, shared: Counts) -> Iterator[str]:
    for split, counts in splits.items():
        for label, own in counts["classes"].items():
            most = max(splits, key=lambda name: splits[name]["classes"][label])
            if not own and (number := splits[most]["classes"][label]):
                yield f"warning: {split} has no {label}, and {most} has {number:,} pairs with it"
    for names, counts in shared.items():
        if parts := [f"{number:,} {name}" for name, number in counts.items() if number]:
            smaller = min(splits[name]["labeled"] for name in names.split(" and "))
            serious = counts["pairs"] or counts["premises"] > FEW * smaller
            yield f"{'warning: ' * bool(serious)}{names} share {' and '.join(parts)}"
