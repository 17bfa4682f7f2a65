"""The format of the Children's Book Test, malformed questions, and encoding as tensors."""

from collections.abc import Callable

import pytest

from actmodels.errors import DataError
from studies.cloze.question import (
    ClozeQuestion,
    count_words,
    encode_questions,
    format_question,
    parse_questions,
)
from tests.studies.cloze.cloze_samples import lines, question

Lines = list[str]


def read(content: Lines, newline: str = "\n") -> list[ClozeQuestion]:
    return list(parse_questions(((line + newline).encode() for line in content), "questions.txt"))


@pytest.mark.parametrize("newline", ["", "\n", "\r\n"])
def test_empty_lines_separate_questions(newline: str) -> None:
    questions = read(["", *lines(), "", "  ", *lines()[:-1]], newline)
    assert questions == [question()] * 2
    assert questions[0].document[:6] == ["The", "hen", "saw", "hen", "0", "."]


def test_round_trip() -> None:
    assert format_question(question()) == "\n".join(lines())


def changed(number: int, old: str, new: str) -> Callable[[Lines], Lines]:
    def change(content: Lines) -> Lines:
        assert old in content[number - 1]
        return [c.replace(old, new) if n == number else c for n, c in enumerate(content, 1)]

    return change


LINES = "lines; expected 20 lines of context and the query"
DOCUMENT = "the document; expected XXXXX for an answer in the document and the candidates"
BROKEN: list[tuple[Callable[[Lines], Lines], str]] = [
    (changed(7, "7 ", "7."), "line 7: the line begins with '7.The'; expected 7"),
    (lambda content: [*content[:12], ""], f"line 12: the question has 12 {LINES}"),
    (lambda content: ["1 ", *content[1:]], "line 1: the line has no words; expected a sentence"),
    (changed(21, "XXXXX", "hen"), "line 21: the query has no XXXXX; expected XXXXX for an answer"),
    (changed(21, "\tfox\t", "\twolf\t"), "line 21: the answer 'wolf' is not among the candidates"),
    (changed(21, "|rat", ""), "line 21: got 9 candidates; expected 10 between vertical bars"),
    (changed(21, "|rat", "|hen"), "line 21: a candidate is duplicated; expected"),
    (changed(21, "|rat", "|"), "line 21: a candidate is empty or XXXXX; expected"),
    (changed(21, "\tfox\t\t", "\tfox\t"), "line 21: got 3 fields between tabs; expected query"),
    (
        lambda c: [t.replace("saw fox", "saw elk") for t in c],
        f"line 21: .*'fox' is not in {DOCUMENT}",
    ),
    (lambda content: ["", "", " "], "has no questions; expected the Children's Book Test's format"),
]


@pytest.mark.parametrize(("corrupt", "message"), BROKEN)
def test_malformed(corrupt: Callable[[Lines], Lines], message: str) -> None:
    with pytest.raises(DataError, match=rf"^questions\.txt,? {message}"):
        read(corrupt(lines()))


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
    assert count_words([FIRST]) == [
        *[("Ann", 2), ("left", 2), ("Bill", 1)],
        *[("bill", 1), ("met", 1)],
    ]


def test_encoding_by_hand() -> None:
    ids = {"Ann": 3, "left": 4, "b": 5}
    split = encode_questions([FIRST, SECOND], ids)
    assert split.document_ids.tolist() == [1, 1, 3, 3, 4, 1, 1, 5]
    assert split.document_offsets.tolist() == [0, 6, 8]
    assert split.query_ids.tolist() == [2, 4, 5, 2]
    assert split.query_offsets.tolist() == [0, 2, 4]
    # candidates are case-sensitive; unknown words differ by their position
    assert split.candidate_at.tolist() == [1, -1, 0, 0, -1, -1, 1, 0]
    assert split.candidate_counts.tolist() == [3, 2]
    assert split.answers.tolist() == [0, 1]
