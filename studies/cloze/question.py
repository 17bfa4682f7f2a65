"""Cloze questions: the format of the Children's Book Test (Hill et al. 2015), and their encoding.

In the format, a question has 21 numbered lines of tokens separated by spaces, then an empty line:

    1 first sentence of the document
    ...
    20 last sentence of the document
    21 query with XXXXX<TAB>answer<TAB><TAB>candidate|candidate|...
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from actmodels.errors import DataError
from pipeline.datasets.encode import as_tensor
from pipeline.datasets.text_lines import decoded
from studies.cloze.data import NO_CANDIDATE, PLACEHOLDER, UNKNOWN, QuestionTensors
from studies.cloze.section import CONTEXT_LINES

BLANK = "XXXXX"
CANDIDATES = 10  # of a question in the format
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


def parse_questions(lines: Iterable[bytes], source: str) -> Iterator[ClozeQuestion]:
    """Parse the lines of a file, with or without newlines.

    Raises:
        DataError: there are no questions, or one is malformed; names the source and the line.
    """
    empty = True
    for blank, block in groupby(enumerate(lines, start=1), lambda line: not line[1].strip()):
        if not blank:
            empty = False
            yield _parse_question([(f"{source}, line {number}", line) for number, line in block])
    if empty:
        raise DataError(f"{source} has no questions; expected the Children's Book Test's format")


def _parse_question(lines: list[tuple[str, bytes]]) -> ClozeQuestion:
    """Parse the lines of a question, each with its location."""
    sentences = []
    for index, (where, line) in enumerate(lines, start=1):
        number, _, text = decoded(line, where).rstrip("\r\n").partition(" ")
        if number != str(index):
            raise DataError(f"{where}: the line begins with {number!r}; expected {index}")
        if not text.strip():
            raise DataError(f"{where}: the line has no words; expected a sentence")
        sentences.append(text.split())
    if len(lines) != CONTEXT_LINES + 1:
        expected = f"expected {CONTEXT_LINES} lines of context and the query"
        raise DataError(f"{where}: the question has {len(lines)} lines; {expected}")
    fields = text.split("\t")
    if len(fields) != 4 or fields[2]:
        expected = "expected query, tab, answer, two tabs, candidates"
        raise DataError(f"{where}: got {len(fields)} fields between tabs; {expected}")
    candidates = [candidate.strip() for candidate in fields[3].split("|")]
    if (count := len(candidates)) != CANDIDATES:
        expected = f"expected {CANDIDATES} between vertical bars"
        raise DataError(f"{where}: got {count} candidates; {expected}")
    question = ClozeQuestion(sentences[:-1], fields[0].split(), candidates, fields[1].strip())
    answer = question.answer
    problems = {
        f"the query has no {BLANK}": BLANK not in question.query,
        f"a candidate is empty or {BLANK}": "" in candidates or BLANK in candidates,
        "a candidate is duplicated": len(set(candidates)) < len(candidates),
        f"the answer {answer!r} is not among the candidates": answer not in candidates,
        f"the answer {answer!r} is not in the document": answer not in question.document,
    }
    for problem in (problem for problem, holds in problems.items() if holds):
        expected = f"expected {BLANK} for an answer in the document and the candidates"
        raise DataError(f"{where}: {problem}; {expected}")
    return question


def format_question(question: ClozeQuestion) -> str:
    """Format a question of 20 sentences; the empty last line lacks its newline."""
    lines = [f"{n} {' '.join(s)}\n" for n, s in enumerate(question.sentences, start=1)]
    query, candidates = " ".join(question.query), "|".join(question.candidates)
    return "".join([*lines, f"{len(lines) + 1} {query}\t{question.answer}\t\t{candidates}\n"])


def count_words(questions: Iterable[ClozeQuestion]) -> list[tuple[str, int]]:
    """Count the words of documents and queries; sort by frequency, then by spelling."""
    counts: Counter[str] = Counter()
    for question in questions:
        counts.update([*question.document, *(word for word in question.query if word != BLANK)])
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def encode_questions(questions: Iterable[ClozeQuestion], ids: Mapping[str, int]) -> QuestionTensors:
    """Encode a split; words without an id become UNKNOWN."""
    documents, queries, candidate_at = array("i"), array("i"), array("i")
    document_offsets, query_offsets = array("q", [0]), array("q", [0])
    counts, answers = array("q"), array("q")

    def id_of(word: str) -> int:
        return PLACEHOLDER if word == BLANK else ids.get(word, UNKNOWN)

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
