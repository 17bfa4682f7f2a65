"""Cloze questions, independent of their source, and their encoding as tensors."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from actmodels.cloze.questions import NO_CANDIDATE, PLACEHOLDER, UNKNOWN, QuestionTensors
from pipeline.datasets.encode import as_tensor

BLANK = "XXXXX"
ARTICLES = "test_articles.txt"  # the article of each test question


class ClozeQuestion(NamedTuple):
    """A query with a missing word, and the document that contains the answer.

    sentences: the document's tokens. query: tokens, one or more of them BLANK.
    candidates: distinct words, one of them the answer.
    article: number of the source text, which questions may share; None if unknown.
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


def count_words(questions: Iterable[ClozeQuestion], lowercase: bool) -> list[tuple[str, int]]:
    """Count the words of documents and queries; sort by frequency, then by spelling."""
    counts: Counter[str] = Counter()
    for question in questions:
        words = [*question.document, *(word for word in question.query if word != BLANK)]
        counts.update(word.lower() if lowercase else word for word in words)
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def encode_questions(
    questions: Iterable[ClozeQuestion], ids: Mapping[str, int], lowercase: bool
) -> QuestionTensors:
    """Encode a split; words without an id become UNKNOWN, and candidates keep their case."""
    documents, queries, candidate_at = array("i"), array("i"), array("i")
    document_offsets, query_offsets = array("q", [0]), array("q", [0])
    counts, answers = array("q"), array("q")

    def id_of(word: str) -> int:
        key = word.lower() if lowercase else word
        return PLACEHOLDER if word == BLANK else ids.get(key, UNKNOWN)

    for question in questions:
        numbers = {candidate: n for n, candidate in enumerate(question.candidates)}
        document = question.document
        documents.extend(map(id_of, document))
        candidate_at.extend(numbers.get(word, NO_CANDIDATE) for word in document)
        queries.extend(map(id_of, question.query))
        document_offsets.append(len(documents))
        query_offsets.append(len(queries))
        counts.append(len(question.candidates))
        answers.append(numbers[question.answer])
    arrays = (documents, candidate_at, document_offsets, queries, query_offsets, counts, answers)
    return QuestionTensors(*map(as_tensor, arrays))
