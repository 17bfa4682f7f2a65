"""The Children's Book Test's format (Hill et al. 2015), read and written.

A question is 21 numbered lines of tokens between single blanks, and an empty line behind them:

    1 first sentence of the document
    ...
    20 last sentence of the document
    21 query with XXXXX<TAB>answer<TAB><TAB>candidate|candidate|...
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from actmodels.errors import DataError
from pipeline.datasets.question import ClozeQuestion, check_answer
from pipeline.datasets.text_lines import decoded
from pipeline.parameters.study_sections import CONTEXT_LINES

CANDIDATES = 10


def parse_questions(lines: Iterable[bytes], source: str) -> Iterator[ClozeQuestion]:
    """Yield the questions of a file's lines, with or without their newlines.

    Raises:
        DataError: there is no question, or a malformed one; names the source and the line.
    """
    found = 0
    for empty, block in groupby(enumerate(lines, start=1), lambda line: not line[1].strip()):
        if not empty:
            found += 1
            yield _question([(f"{source}, line {number}", line) for number, line in block])
    if not found:
        raise DataError(f"{source} has no questions; expected the Children's Book Test's format")


def _question(lines: list[tuple[str, bytes]]) -> ClozeQuestion:
    """Read the lines of a question, each with its place for messages."""
    context = []
    for own, (where, line) in enumerate(lines, start=1):
        number, _, text = decoded(line, where).rstrip("\r\n").partition(" ")
        if number != str(own):
            raise DataError(f"{where}: the line begins with {number!r}; expected the number {own}")
        if not text.strip():
            raise DataError(f"{where}: the line has no words; expected a sentence")
        context.append(text.split())
    if len(lines) != CONTEXT_LINES + 1:
        expected = f"expected {CONTEXT_LINES} lines of context and the query"
        raise DataError(f"{where}: a question of {len(lines)} lines ends; {expected}")
    fields = text.split("\t")
    if len(fields) != 4 or fields[2]:
        expected = "expected query, tab, answer, two tabs, candidates"
        raise DataError(f"{where}: found {len(fields)} fields between tabs; {expected}")
    candidates = [candidate.strip() for candidate in fields[3].split("|")]
    if (count := len(candidates)) != CANDIDATES:
        expected = f"expected {CANDIDATES} between vertical bars"
        raise DataError(f"{where}: found {count} candidates; {expected}")
    question = ClozeQuestion(context[:-1], fields[0].split(), candidates, fields[1].strip())
    check_answer(question, where)
    return question


def format_question(question: ClozeQuestion) -> str:
    """The 21 lines of a question of 20 sentences, with the empty one but its newline."""
    lines = [f"{n} {' '.join(s)}\n" for n, s in enumerate(question.sentences, start=1)]
    query, candidates = " ".join(question.query), "|".join(question.candidates)
    return "".join([*lines, f"{len(lines) + 1} {query}\t{question.answer}\t\t{candidates}\n"])
