"""A cloze question, whatever file it comes from."""

from typing import NamedTuple

BLANK = "XXXXX"


class ClozeQuestion(NamedTuple):
    """A word is missing from the query; the document tells which.

    sentences: the document's tokens, sentence by sentence.
    query: tokens, of which one or more are BLANK.
    candidates: different words, one of which is the answer.
    """

    sentences: list[list[str]]
    query: list[str]
    candidates: list[str]
    answer: str

    @property
    def document(self) -> list[str]:
        """All tokens of the document."""
        return [token for sentence in self.sentences for token in sentence]


def answer_problem(question: ClozeQuestion) -> str | None:
    """Why no reader could answer a question rightly, as a sentence; None if one can."""
    candidates, answer = question.candidates, question.answer
    if BLANK not in question.query:
        return f"the query has no {BLANK}; expected one where the answer is missing"
    if "" in candidates:
        return "a candidate is empty; expected a word"
    repeated = sorted({word for word in candidates if candidates.count(word) > 1})
    if repeated:
        return f"the candidate {repeated[0]!r} is given twice; expected different candidates"
    if answer not in candidates:
        return (
            f"the answer {answer!r} is not among the candidates {', '.join(candidates)}; "
            "expected one of them"
        )
    if answer not in question.document:
        return f"the answer {answer!r} is not in the document; expected it there at least once"
    return None
