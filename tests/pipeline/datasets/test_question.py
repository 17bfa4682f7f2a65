"""Encode questions as tensors."""

from pipeline.datasets.question import ClozeQuestion, count_words, encode_questions

FIRST = ClozeQuestion(
    sentences=[["Bill", "met", "Ann"], ["Ann", "left", "bill"]],
    query=["XXXXX", "left"],
    candidates=["Ann", "Bill", "Zoe"],
    answer="Ann",
)
SECOND = ClozeQuestion(
    sentences=[["a", "b"]], query=["b", "XXXXX"], candidates=["b", "a"], answer="a"
)


def test_counts() -> None:
    """Words of queries count, blanks do not."""
    assert count_words([FIRST], lowercase=False) == [
        *[("Ann", 2), ("left", 2), ("Bill", 1)],
        *[("bill", 1), ("met", 1)],
    ]
    counted = count_words([FIRST], lowercase=True)
    assert counted == [("ann", 2), ("bill", 2), ("left", 2), ("met", 1)]


def test_encoding_by_hand() -> None:
    ids = {"ann": 3, "left": 4, "b": 5}
    split = encode_questions([FIRST, SECOND], ids, lowercase=True)
    assert split.document_ids.tolist() == [1, 1, 3, 3, 4, 1, 1, 5]
    assert split.document_offsets.tolist() == [0, 6, 8]
    assert split.query_ids.tolist() == [2, 4, 5, 2]
    assert split.query_offsets.tolist() == [0, 2, 4]
    # candidates are case-sensitive; unknown words differ by their position
    assert split.candidate_at.tolist() == [1, -1, 0, 0, -1, -1, 1, 0]
    assert split.candidate_counts.tolist() == [3, 2]
    assert split.answers.tolist() == [0, 1]
    assert encode_questions([FIRST], ids, lowercase=False).document_ids.tolist()[2] == 1
