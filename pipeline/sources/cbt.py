"""The Children's Book Test's format (Hill et al. 2015), read and written.

A question is 21 numbered lines of tokens between single blanks, and an empty line behind them:

    1 first sentence of the document
    ...
    20 last sentence of the document
    21 query with XXXXX<TAB>answer<TAB><TAB>candidate|candidate|...
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from actmodels.errors import DataError
from actmodels.files import replacing
from pipeline.parameters.study_sections import CONTEXT_LINES
from pipeline.sources.question import ClozeQuestion, answer_problem

CANDIDATES = 10


def parse_questions(lines: Iterable[bytes], source: str) -> Iterator[ClozeQuestion]:
    """Yield the questions of a file's lines, with or without their newlines.

    Args:
        source: the file, for messages.

    Raises:
        DataError: there is no question, or a malformed one; names file and line.
    """
    found = 0
    for empty, block in groupby(enumerate(lines, start=1), lambda line: not line[1].strip()):
        if not empty:
            found += 1
            yield _question([*_numbered(block, source)])
    if not found:
        raise DataError(
            f"{source} has no questions; expected some in the Children's Book Test's format"
        )


def _numbered(block: Iterable[tuple[int, bytes]], source: str) -> Iterator[tuple[str, str]]:
    """Of each line of a question where it is, and what stands behind its number."""
    for own, (number, line) in enumerate(block, start=1):
        where = f"{source}, line {number}"
        try:
            head, _, rest = line.rstrip(b"\r\n").decode().partition(" ")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{where}: not UTF-8 (at byte {error.start + 1}); convert the file to UTF-8"
            ) from error
        if head != str(own):
            raise DataError(
                f"{where}: the numbering is broken, {head!r} begins the line; expected {own}"
            )
        yield where, rest


def _question(lines: list[tuple[str, str]]) -> ClozeQuestion:
    where, last = lines[-1]
    if len(lines) != CONTEXT_LINES + 1:
        raise DataError(
            f"{where}: a question of {len(lines)} lines ends; expected {CONTEXT_LINES} context "
            f"lines and the query as line {CONTEXT_LINES + 1}"
        )
    context = [rest.split() for _, rest in lines[:-1]]
    if [] in context:
        raise DataError(
            f"{lines[context.index([])][0]}: the context line has no words; expected a sentence"
        )
    fields = last.split("\t")
    if len(fields) != 4 or fields[2]:
        raise DataError(
            f"{where}: expected the query, a tab, the answer, two tabs and the candidates; "
            f"found {len(fields)} fields between tabs"
        )
    query, answer, _, listed = fields
    candidates = [candidate.strip() for candidate in listed.split("|")]
    question = ClozeQuestion(context, query.split(), candidates, answer.strip())
    if problem := answer_problem(question):
        raise DataError(f"{where}: {problem}")
    if len(candidates) != CANDIDATES:
        raise DataError(
            f"{where}: {len(candidates)} candidates; expected {CANDIDATES} between vertical bars"
        )
    return question


def format_question(question: ClozeQuestion) -> str:
    """A question's 21 lines and the empty one, for questions of 20 sentences."""
    lines = [f"{n} {' '.join(s)}\n" for n, s in enumerate(question.sentences, start=1)]
    query, candidates = " ".join(question.query), "|".join(question.candidates)
    last = f"{CONTEXT_LINES + 1} {query}\t{question.answer}\t\t{candidates}\n"
    return "".join([*lines, last, "\n"])


def write_questions(path: Path, questions: Iterable[ClozeQuestion]) -> None:
    """Write one file atomically."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(map(format_question, questions))
