"""A cloze question, whatever file it comes from; and questions as tensors."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from actmodels.errors import DataError
from actmodels.reader.questions import NO_CANDIDATE, PLACEHOLDER, UNKNOWN, QuestionTensors
from pipeline.sources.encode import as_tensor

BLANK = "XXXXX"
ARTICLES = "test_articles.txt"  # which test questions are of one article


class ClozeQuestion(NamedTuple):
    """A word is missing from the query; the document tells which.

    sentences: the document's tokens, sentence by sentence.
    query: tokens, of which one or more are BLANK.
    candidates: different words, one of which is the answer.
    article: the number of its source, where others may be from too; None if not known.
    """

    sentences: list[list[str]]
    query: list[str]
    candidates: list[str]
    answer: str
    article: int | None = None

    @property
    def document(self) -> list[str]:
        """All tokens of the document."""
        return [token for sentence in self.sentences for token in sentence]


def check_answer(question: ClozeQuestion, where: str) -> None:
    """Raise DataError, which names `where`, if no reader could answer the question rightly."""
    candidates, answer = question.candidates, question.answer
    repeated = [word for word in candidates if candidates.count(word) > 1]
    problem = None
    if BLANK not in question.query:
        problem = f"the query has no {BLANK}; expected one where the answer is missing"
    elif "" in candidates or BLANK in candidates:
        problem = f"a candidate is empty or {BLANK}; expected a word"
    elif repeated:
        problem = f"the candidate {repeated[0]!r} is there twice; expected different candidates"
    elif answer not in candidates:
        problem = f"the answer {answer!r} is not among the candidates; expected one of {candidates}"
    elif answer not in question.document:
        problem = f"the answer {answer!r} is not in the document; expected it there at least once"
    if problem:
        raise DataError(f"{where}: {problem}")


def count_words(questions: Iterable[ClozeQuestion], lowercase: bool) -> list[tuple[str, int]]:
    """Words of documents and queries with their counts, the most frequent first, then by spelling.

    Questions that share text count it each time.
    """
    counts: Counter[str] = Counter()
    for question in questions:
        words = [*question.document, *(word for word in question.query if word != BLANK)]
        counts.update(word.lower() if lowercase else word for word in words)
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def encode_questions(
    questions: Iterable[ClozeQuestion], ids: Mapping[str, int], lowercase: bool
) -> QuestionTensors:
    """Encode a split.

    Candidates are found in the document by their spelling, case included, whatever the ids of
    their words are.

    Args:
        ids: token id of every word of the vocabulary; other words become UNKNOWN.
        lowercase: look words up in small letters.
    """
    documents, queries, at = array("i"), array("i"), array("i")
    document_offsets, query_offsets = array("q", [0]), array("q", [0])
    counts, answers = array("q"), array("q")

    def id_of(word: str) -> int:
        known = word.lower() if lowercase else word
        return PLACEHOLDER if word == BLANK else ids.get(known, UNKNOWN)

    for question in questions:
        numbers = {candidate: n for n, candidate in enumerate(question.candidates)}
        document = question.document
        documents.extend(map(id_of, document))
        at.extend(numbers.get(word, NO_CANDIDATE) for word in document)
        queries.extend(map(id_of, question.query))
        document_offsets.append(len(documents))
        query_offsets.append(len(queries))
        counts.append(len(question.candidates))
        answers.append(numbers[question.answer])
    parts = (documents, at, document_offsets, queries, query_offsets, counts, answers)
    return QuestionTensors(*map(as_tensor, parts))
