"""What splits share, and what one of them lacks."""

import pytest

from actmodels.errors import DataError
from pipeline.datasets.splits import SplitComparison
from pipeline.parameters.labels import NLI, ClassReader, Seen
from tests.pipeline.datasets.test_pair_files import FEW

Rows = list[tuple[str, str, str]]
KEYS = ("sentence1", "sentence2", "gold_label")
ALL: Rows = [("A", "x", "neutral"), ("A", "y", "entailment"), ("B", "x", "contradiction")]
EACH = "1 neutral, 1 entailment, 1 contradiction"
ORIGIN = {"dropped": {"train": {}, "test": {"no words": 2}}}


def notes(test: Rows, train: Rows = ALL) -> list[str]:
    """Return the notes on a corpus, or the error."""
    reader = ClassReader(NLI, {})
    reader.seen = {"0": Seen("neutral", "…"), "ENTAILMENT": Seen("entailment", "…")}
    comparison = SplitComparison(reader)
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
        ([("D", label, label) for label in NLI], f"3 pairs ({EACH})", "neutral, 33.3",
         ["train and test share 0 of 4 words; expected texts in one language"]),
        ([("A", "x", "-"), *[("C", x, "entailment") for x in "yz"]],
         "2 pairs (0 neutral, 2 entailment, 0 contradiction), 1 unlabeled dropped",
         "entailment, 100.0",
         [f"test has no {x}, and train has 1 pairs with it" for x in NLI[::2]]),
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


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        (["0", "1"], "no label is the number 2 (contradiction); if '0', '1' are the classes: act-nl"
         "i use 'corpus.classes=[\"0\", \"1\"]'; if the numbers are right: "
         "act-nli use 'corpus.files.labels.2=\"-\"'"),
        (["0", "1", "-1", "contradiction"], "no label is the number 2 (contradiction); if '0', '1',"
         " '-1' are the classes: act-nli use 'corpus.classes=[\"0\", \"1\", \"-1\"]'; if the number"
         "s are right: act-nli use 'corpus.files.labels.2=\"-\"'"),
        (["Neutral", "ENTAILMENT"], "no pair of any split is contradiction; if 'neutral', 'entailme"
         "nt' are the classes: act-nli use 'corpus.classes=[\"neutral\", \"entailment\"]'"),
        (["neutral"], "no pair of any split is entailment or contradiction, all are neutral; expec"
         f"ted at least two classes; {FEW}"),
    ],
)  # fmt: skip
def test_a_class_without_pairs_is_a_question(labels: list[str], error: str) -> None:
    known = {"0": "neutral", "1": "entailment", "2": "contradiction", "-1": "-"}
    reader = ClassReader(NLI, known)
    comparison = SplitComparison(reader)
    pairs = [
        {
            "sentence1": "a",
            "sentence2": f"b{n}",
            "gold_label": reader.read(label, "train", "", "ab"),
        }
        for n, label in enumerate(labels)
    ]
    list(comparison.watched("train", pairs))
    with pytest.raises(DataError) as raised:
        comparison.summary({})
    assert str(raised.value) == error
