"""What splits share, and what one of them lacks."""

from collections import Counter

import pytest

from actmodels.configs import LABELS
from pipeline.datasets.splits import SplitComparison

TRAIN = [("A", "x", "neutral"), ("A", "y", "entailment"), ("B", "x", "contradiction")]
FULL = "1 neutral, 1 entailment, 1 contradiction"


@pytest.mark.parametrize(
    ("test", "test_note", "share", "warnings"),
    [
        (
            [("C", "x", "neutral"), ("C", "x", "-")],
            "1 pairs (1 neutral, 0 ent",
            100.0,
            ["has no entailment"],
        ),
        (
            [(p, f"{h} z", label) for p, h, label in TRAIN],
            f"3 pairs ({FULL})",
            33.3,
            ["share 2 premises"],
        ),
        (TRAIN, f"3 pairs ({FULL})", 33.3, ["train and test share 3 pairs and 2 premises"]),
        ([("A", "x", "-"), ("C", "y", "entailment")], "1 unlabeled dropped", 100.0, []),
    ],
)
def test_notes(
    test: list[tuple[str, str, str]], test_note: str, share: float, warnings: list[str]
) -> None:
    comparison, counts = SplitComparison(), {}
    for split, rows in {"train": TRAIN, "test": test}.items():
        pairs = [
            dict(zip(("sentence1", "sentence2", "gold_label"), row, strict=True)) for row in rows
        ]
        assert list(comparison.watched(split, pairs)) == pairs
        labels = Counter(pair["gold_label"] for pair in pairs)
        labeled = {label: labels[label] for label in LABELS}
        counts[split] = labeled | {"labeled": sum(labeled.values()), "unlabeled": labels["-"]}
    summary = comparison.summary(counts)
    train, of_test, majority, *rest = summary["notes"]
    assert train == f"train: 3 pairs ({FULL})" and test_note in of_test
    assert majority == f"majority class of test: {summary['majority']['label']}, {share} %"
    assert [note for note in rest if note.startswith("warning: ")] == rest
    assert [any(warning in note for note in rest) for warning in warnings] == [True] * len(warnings)
