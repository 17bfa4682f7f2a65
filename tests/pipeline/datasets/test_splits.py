"""What splits share, and what one of them lacks."""

from collections import Counter

import pytest

from actmodels.configs import LABELS
from actmodels.errors import DataError
from pipeline.datasets.splits import SplitComparison

TRAIN = [("A", "x", "neutral"), ("A", "y", "entailment"), ("B", "x", "contradiction")]
FULL = "1 neutral, 1 entailment, 1 contradiction"


@pytest.mark.parametrize(
    ("test", "test_note", "share", "warnings"),
    [
        (
            [("C", "x", "neutral"), ("C", "x", "-"), ("D", "x", "neutral")],
            "2 pairs (2 neutral, 0 ent",
            100.0,
            ["has no entailment"],
        ),
        (
            [(p, f"{h} z", label) for p, h, label in TRAIN],
            f"3 pairs ({FULL})",
            33.3,
            ["share 2 premises"],
        ),
        (
            [*TRAIN, ("C", "z", "neutral")],
            "4 pairs (2 neu",
            50.0,
            ["train and test share 3 pairs and 2 premises"],
        ),
        (
            [("A", "x", "-"), *[("C", "y", "entailment")] * 2],
            "1 unlabeled dropped",
            100.0,
            [],
        ),
        (TRAIN[::-1], "test has the pairs of train; each split needs its own", 0.0, []),
        (
            TRAIN[1:2],
            "test has one labeled pair; expected at least two, to compare models",
            0.0,
            [],
        ),
    ],
)
def test_notes(
    test: list[tuple[str, str, str]], test_note: str, share: float, warnings: list[str]
) -> None:
    comparison, counts = SplitComparison(), {}
    origin = {"dropped": {"train": {}, "test": {"no words": 2}}, "labels": {"0": "neutral, as in"}}
    try:
        for split, rows in {"train": TRAIN, "test": test}.items():
            pairs = [
                dict(zip(("sentence1", "sentence2", "gold_label"), row, strict=True))
                for row in rows
            ]
            assert list(comparison.watched(split, pairs)) == pairs
            labels = Counter(pair["gold_label"] for pair in pairs)
            labeled = {label: labels[label] for label in LABELS}
            counts[split] = labeled | {"labeled": sum(labeled.values()), "unlabeled": labels["-"]}
        summary = comparison.summary(counts, origin)
    except DataError as error:
        assert str(error) == test_note
        return
    train, of_test, dropped, label, majority, *rest = summary["notes"]
    assert train == f"train: 3 pairs ({FULL})" and test_note in of_test
    assert (dropped, label) == ("test: 2 rows dropped: no words", "label 0 is neutral, as in")
    assert majority == f"majority class of test: {summary['majority']['label']}, {share} %"
    assert [note for note in rest if note.startswith("warning: ")] == rest
    assert [any(warning in note for note in rest) for warning in warnings] == [True] * len(warnings)
