"""What splits share, and what one of them lacks."""

import pytest

from actmodels.configs import LABELS
from actmodels.errors import DataError
from pipeline.datasets.splits import SplitComparison

Rows = list[tuple[str, str, str]]
KEYS = ("sentence1", "sentence2", "gold_label")
ALL: Rows = [("A", "x", "neutral"), ("A", "y", "entailment"), ("B", "x", "contradiction")]
EACH = "1 neutral, 1 entailment, 1 contradiction"
ORIGIN = {"dropped": {"train": {}, "test": {"no words": 2}}, "labels": {"0": "neutral, as in …"}}


def notes(test: Rows, train: Rows = ALL) -> list[str]:
    """Return the notes on a corpus, or the error."""
    comparison = SplitComparison()
    try:
        for split, rows in {"train": train, "test": test}.items():
            pairs = [dict(zip(KEYS, row, strict=True)) for row in rows]
            assert list(comparison.watched(split, pairs)) == pairs
        return comparison.summary(ORIGIN)["notes"]
    except DataError as error:
        return [str(error)]


@pytest.mark.parametrize(
    ("test", "counted", "majority", "warnings"),
    [
        ([(p, f"{h} z", label) for p, h, label in ALL], f"3 pairs ({EACH})", "neutral, 33.3",
         ["test share 2 premises"]),
        ([*ALL, ("C", "z", "neutral")], f"4 pairs ({EACH.replace('1', '2', 1)})", "neutral, 50.0",
         ["train and test share 3 pairs and 2 premises"]),
        ([("B  a", "x", "neutral"), ("b A", "X", "entailment"), ("b a\u200b", "y", "neutral")],
         "3 pairs (2 neutral, 1 entailment, 0 contradiction)", "neutral, 66.7",
         ["test has no contradiction, and train has 1 pairs with it",
          "test repeats 1 pairs, and has 1 pairs with two labels or more"]),
        ([("D", label, label) for label in LABELS], f"3 pairs ({EACH})", "neutral, 33.3",
         ["train and test share 0 of 4 words; expected texts in one language"]),
        ([("A", "x", "-"), *[("C", x, "entailment") for x in "yz"]],
         "2 pairs (0 neutral, 2 entailment, 0 contradiction), 1 unlabeled dropped",
         "entailment, 100.0",
         [f"test has no {x}, and train has 1 pairs with it" for x in LABELS[::2]]),
    ],
)  # fmt: skip
def test_notes(test: Rows, counted: str, majority: str, warnings: list[str]) -> None:
    head = [f"train: 3 pairs ({EACH})", f"test: {counted}", "test: 2 rows dropped: no words"]
    head += ["label 0 is neutral, as in …", f"majority class of test: {majority} %"]
    found = notes(test)
    assert found[:5] == head
    assert len(found) == 5 + len(warnings)
    for note, warning in zip(found[5:], warnings, strict=True):
        assert note.startswith("warning: ") and note.endswith(warning)


@pytest.mark.parametrize(
    ("test", "error"),
    [
        ([(f"{p.lower()}\u00a0", f" {h}\u200b", label) for p, h, label in ALL[::-1]],
         "test has the pairs of train; each split needs its own"),
        (ALL[1:2], "test has one labeled pair; expected at least two, to compare models"),
    ],
)  # fmt: skip
def test_errors(test: Rows, error: str) -> None:
    assert notes(test) == [error]


def test_one_label() -> None:
    train, test = ([(name, x, "neutral") for x in "yz"] for name in "ab")
    assert notes(test, train) == ["all pairs are neutral; expected two labels or more"]
