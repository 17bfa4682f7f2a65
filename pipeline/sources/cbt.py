"""The Children's Book Test's format (Hill et al. 2015), read and written.

A question is 21 numbered lines of tokens between single blanks, and an empty line behind them:

    1 first sentence of the document
    ...
    20 last sentence of the document
    21 query with XXXXX<TAB>answer<TAB><TAB>candidate|candidate|...
"""

from collections.abc import Iterable, Iterator
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
    context: list[list[str]] = []
    number = found = 0
    for number, line in enumerate(lines, start=1):
        where = f"{source}, line {number}"
        text = _decoded(line, where)
        if not text.strip():
            if context:
                raise DataError(f"{where}: {_cut_short(len(context))}")
            continue
        rest = _numbered(text, len(context), where)
        if len(context) < CONTEXT_LINES:
            context.append(_context_line(rest, len(context), where))
        else:
            yield _question(context, rest, where)
            context, found = [], found + 1
    if context:
        raise DataError(f"{source}, line {number}: the file ends here: {_cut_short(len(context))}")
    if not found:
        raise DataError(
            f"{source} has no questions; expected some in the Children's Book Test's format"
        )


def _decoded(line: bytes, where: str) -> str:
    try:
        return line.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{where}: not UTF-8 (at byte {error.start + 1}); convert the file to UTF-8"
        ) from error


def _cut_short(lines: int) -> str:
    return (
        f"a question of {lines} lines; expected {CONTEXT_LINES} context lines and the query as "
        f"line {CONTEXT_LINES + 1}"
    )


def _numbered(text: str, before: int, where: str) -> str:
    """What stands behind a line's number."""
    head, _, rest = text.partition(" ")
    if head == str(before + 1):
        return rest
    if head == "1":
        raise DataError(f"{where}: a new question begins behind {_cut_short(before)}")
    raise DataError(
        f"{where}: the numbering is broken, {head!r} begins the line; expected {before + 1}"
    )


def _context_line(rest: str, before: int, where: str) -> list[str]:
    if "\t" in rest:
        raise DataError(
            f"{where}: the query comes after {before} context lines; expected {CONTEXT_LINES}"
        )
    if not (tokens := rest.split()):
        raise DataError(f"{where}: the context line has no words; expected a sentence")
    return tokens


def _question(context: list[list[str]], rest: str, where: str) -> ClozeQuestion:
    fields = rest.split("\t")
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
