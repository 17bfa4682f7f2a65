"""What splits share, and what one of them lacks: notes and errors in a golden file."""

from collections.abc import Callable

from actmodels.errors import DataError
from pipeline.datasets.splits import SplitComparison
from pipeline.parameters.labels import NLI, ClassReader, Seen

Rows = list[tuple[str, str, str]]
KEYS = ("sentence1", "sentence2", "gold_label")
ALL: Rows = [("A", "x", "neutral"), ("A", "y", "entailment"), ("B", "x", "contradiction")]
TESTS: dict[str, Rows] = {
    "other hypotheses": [(p, f"{h} z", label) for p, h, label in ALL],
    "one more pair": [*ALL, ("C", "z", "neutral")],
    "repeats that differ in case and blanks": [
        *(("B  a", "x", "neutral"), ("b A", "X", "entailment"), ("b a\u200b", "y", "neutral"))
    ],
    "another language": [("D", label, label) for label in NLI],
    "one class, and an unlabeled pair": [
        *(("A", "x", "-"), ("C", "y", "entailment"), ("C", "z", "entailment"))
    ],
    "the same pairs": [(f"{p.lower()}\u00a0", f" {h}\u200b", label) for p, h, label in ALL[::-1]],
    "one pair": ALL[1:2],
}
LABELS = (["0", "1"], ["0", "1", "-1", "contradiction"], ["Neutral", "ENTAILMENT"], ["neutral"])


def notes(test: Rows) -> list[str]:
    """Return the notes on a corpus, or the error."""
    reader = ClassReader(NLI, {})
    reader.seen = {"0": Seen("neutral", "…"), "ENTAILMENT": Seen("entailment", "…")}
    comparison = SplitComparison(reader)
    try:
        for split, rows in {"train": ALL, "test": test}.items():
            pairs = [dict(zip(KEYS, row, strict=True)) for row in rows]
            assert list(comparison.watched(split, pairs)) == pairs
        return comparison.summary({"dropped": {"train": {}, "test": {"no words": 2}}})["notes"]
    except DataError as error:
        return [str(error)]


def question(labels: list[str]) -> str:
    """Return the error of a corpus whose labels leave out a class."""
    reader = ClassReader(NLI, dict(zip(["0", "1", "2", "-1"], [*MEANINGS, "-"], strict=True)))
    comparison = SplitComparison(reader)
    read = [reader.read(label, "train", "", "ab") for label in labels]
    pairs = [dict(zip(KEYS, ("a", f"b{n}", of), strict=True)) for n, of in enumerate(read)]
    list(comparison.watched("train", pairs))
    try:
        return str(comparison.summary({})["notes"])
    except DataError as error:
        return str(error)


MEANINGS = ("neutral", "entailment", "contradiction")


def test_notes_and_errors(golden: Callable[..., None]) -> None:
    found = {name: notes(test) for name, test in TESTS.items()}
    found |= {f"labels {', '.join(labels)}": [question(labels)] for labels in LABELS}
    golden(
        "splits.txt", "".join("\n  ".join([name, *lines]) + "\n" for name, lines in found.items())
    )
