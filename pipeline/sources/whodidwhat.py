"""Who-Did-What's XML (Onishi et al. 2016): questions about persons in news articles.

    <mc>
      <question><leftcontext>...</leftcontext><blank/><rightcontext>...</rightcontext></question>
      <contextart>...</contextart>
      <choice correct="true" idx="0">...</choice> ...
    </mc>

The corpus needs a licence and was not at hand: the layout is that which public readers of it rely
on, and nothing else in the file is looked at. Its `&nbsp;`, which XML does not know, is a blank.

A choice is a name of one or more words. As Munkhdalai & Yu 2017 section 4.1 do, each is replaced
by a token that says nothing, in document and query alike, numbered at random in each question.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from xml.parsers import expat

from actmodels.errors import DataError
from pipeline.sources.question import BLANK, ClozeQuestion
from pipeline.sources.sentences import split_sentences
from pipeline.sources.treebank import tokenise

FEWEST_CHOICES = 2
_TEXTS = ("leftcontext", "rightcontext", "contextart", "choice")


@dataclass
class _Found:
    """One <mc> as the file has it. line: where it begins."""

    line: int
    texts: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _TEXTS})
    correct: list[int] = field(default_factory=list)


class _Reader:
    """Gathers the texts of each <mc>; expat knows the line of everything."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self.open = ""
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.UseForeignDTD(True)  # so that an unknown entity is skipped, not an error
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.SkippedEntityHandler = lambda name, _: self.text(" ")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "mc":
            self.found.append(_Found(self.parser.CurrentLineNumber))
        elif name in _TEXTS and self.found:
            self.open = name
            texts = self.found[-1].texts[name]
            if name == "choice" and attributes.get("correct") == "true":
                self.found[-1].correct.append(len(texts))
            texts.append("")

    def end(self, name: str) -> None:
        if name == self.open:
            self.open = ""

    def text(self, data: str) -> None:
        if self.open:
            self.found[-1].texts[self.open][-1] += data


def read_questions(path: Path, seed: int) -> Iterator[ClozeQuestion]:
    """Yield the questions of one file in its order.

    Args:
        seed: of the numbers that stand for names.

    Raises:
        DataError: the file is missing, no XML or without questions, or a question is malformed;
            names file and line.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing; expected a file of Who-Did-What")
    reader = _Reader()
    try:
        reader.parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise DataError(
            f"{path}, line {error.lineno}: not XML ({reason}); expected a file of Who-Did-What"
        ) from error
    if not reader.found:
        raise DataError(f"{path} has no questions; expected elements <mc>")
    for number, found in enumerate(reader.found):
        yield _question(found, f"{path}, line {found.line}", Random(f"{seed} {number}"))


def _question(found: _Found, where: str, draw: Random) -> ClozeQuestion:
    for name in _TEXTS[:3]:
        if len(found.texts[name]) != 1:
            count = len(found.texts[name])
            raise DataError(f"{where}: {count} elements <{name}> in a question; expected one")
    choices = [_tokens(choice) for choice in found.texts["choice"]]
    if len(choices) < FEWEST_CHOICES:
        raise DataError(
            f"{where}: {len(choices)} elements <choice>; expected at least {FEWEST_CHOICES}"
        )
    if len(found.correct) != 1:
        raise DataError(
            f'{where}: {len(found.correct)} choices with correct="true"; expected exactly one'
        )
    if [] in choices:
        raise DataError(f"{where}: a <choice> is empty; expected a name")
    for choice in choices:
        if choices.count(choice) > 1:
            name = " ".join(choice)
            raise DataError(f"{where}: the choice {name!r} is given twice; expected different ones")
    right = found.correct[0]
    left, rest, article = (found.texts[name][0] for name in _TEXTS[:3])
    numbers = draw.sample(range(len(choices)), len(choices))
    names = [f"@entity{number}" for number in numbers]
    sentences = [anonymised(s, choices, names) for s in _sentences(article)]
    query = [anonymised(_tokens(part), choices, names) for part in (left, rest)]
    question = ClozeQuestion(sentences, [*query[0], BLANK, *query[1]], names, names[right])
    if question.answer not in question.document:
        name = " ".join(choices[right])
        raise DataError(
            f"{where}: the answer {name!r} is not in the article; expected it there at least once"
        )
    return question


def _sentences(text: str) -> list[list[str]]:
    return [list(tokenise(" ".join(words), False)) for words in split_sentences(text.split())]


def _tokens(text: str) -> list[str]:
    return [token for sentence in _sentences(text) for token in sentence]


def anonymised(
    tokens: Sequence[str], names: Sequence[Sequence[str]], replacements: Sequence[str]
) -> list[str]:
    """Tokens with each name replaced wherever all of its words stand in a row.

    Where two names could begin, the longer one does.
    """
    order = sorted(zip(names, replacements, strict=True), key=lambda pair: -len(pair[0]))
    result, place = [], 0
    while place < len(tokens):
        for name, replacement in order:
            if list(tokens[place : place + len(name)]) == list(name):
                result.append(replacement)
                place += len(name)
                break
        else:
            result.append(tokens[place])
            place += 1
    return result
