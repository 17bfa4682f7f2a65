"""What splits share, and what one of them lacks: notes and errors in a golden file."""

from collections.abc import Callable

from pipeline.datasets.splits import SplitComparison
from pipeline.parameters.labels import NLI, ClassReader, Seen
from tests.pipeline.project import transcribe

Rows = list[tuple[str, str, str]]
KEYS = ("sentence1", "sentence2", "gold_label")
ALL: Rows = [("A", "x", "neutral"), ("A", "y", "entailment"), ("B", "x", "contradiction")]
NUMBERS = {"0": "neutral", "1": "entailment", "2": "contradiction", "-1": "-"}


def notes(*test: tuple[str, str, str]) -> list[str]:
    """Return the notes on a corpus with these rows as test."""
    reader = ClassReader(NLI, {})
    reader.seen = {"0": Seen("neutral", "…"), "ENTAILMENT": Seen("entailment", "…")}
    comparison = SplitComparison(reader)
    for split, rows in {"train": ALL, "test": test}.items():
        pairs = [dict(zip(KEYS, row, strict=True)) for row in rows]
        assert list(comparison.watched(split, pairs)) == pairs
    summary = comparison.summary({"dropped": {"train": {}, "test": {"no words": 2}}})
    return [str(note) for note in summary["notes"]]


def labels(*texts: str) -> list[str]:
    """Return the notes on a corpus with these labels in its files."""
    reader = ClassReader(NLI, NUMBERS)
    comparison = SplitComparison(reader)
    read = [reader.read(text, "train", "", "ab") for text in texts]
    pairs = [dict(zip(KEYS, ("a", f"b{n}", of), strict=True)) for n, of in enumerate(read)]
    list(comparison.watched("train", pairs))
    return [str(note) for note in comparison.summary({})["notes"]]


def test_notes_and_errors(golden: Callable[..., None]) -> None:
    names = {"notes": notes, "labels": labels, "ALL": ALL, "NLI": NLI}
    transcribe(golden, "splits.txt", names)
