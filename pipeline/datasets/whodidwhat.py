"""Who-Did-What's XML (Onishi et al. 2016): questions about persons in news articles.

    <mc>
      <question><leftcontext>...</leftcontext><blank/><rightcontext>...</rightcontext></question>
      <contextart>...</contextart>
      <choice correct="true" idx="0">...</choice> ...
    </mc>

The corpus needs a licence and was not at hand: the layout is that which public readers of it rely
on. Its `&nbsp;`, which XML does not know, is a blank. As in Munkhdalai & Yu 2017 section 4.1, each
choice, a name of one or more words, is replaced by a token that is numbered at random.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from xml.etree import ElementTree

from actmodels.errors import DataError
from pipeline.datasets.question import BLANK, ClozeQuestion
from pipeline.datasets.sentences import split_sentences
from pipeline.datasets.tokenizer import tokenize

TEXTS = ("leftcontext", "rightcontext", "contextart")


def read_questions(path: Path, seed: int) -> Iterator[ClozeQuestion]:
    """Yield the questions of one file in its order; `seed` draws the numbers that replace names.

    Raises:
        DataError: the file is no XML or without questions, or a question is malformed; names the
            file, and the line or the question counted from 1.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes().replace(b"&nbsp;", b" "))
    except ElementTree.ParseError as error:
        raise DataError(f"{path}: not XML ({error}); expected a file of Who-Did-What") from error
    found = root.findall(".//mc")
    if not found:
        raise DataError(f"{path} has no questions; expected elements <mc>")
    for number, question in enumerate(found):
        yield _question(question, f"{path}, question {number + 1}", Random(f"{seed} {number}"))


def _question(found: ElementTree.Element, where: str, draw: Random) -> ClozeQuestion:
    texts = {name: ["".join(e.itertext()) for e in found.iter(name)] for name in TEXTS}
    for name, elements in texts.items():
        if (count := len(elements)) != 1:
            raise DataError(f"{where}: {count} elements <{name}>; expected one")
    choices = [_tokens("".join(choice.itertext())) for choice in found.iter("choice")]
    if len({*map(tuple, choices)} - {()}) < max(2, len(choices)):
        raise DataError(f"{where}: {len(choices)} elements <choice>; expected different names")
    correct = [choice.get("correct") == "true" for choice in found.iter("choice")]
    if sum(correct) != 1:
        raise DataError(f'{where}: {sum(correct)} choices with correct="true"; expected one')
    left, rest, article = (texts[name][0] for name in TEXTS)
    names = [f"@entity{number}" for number in draw.sample(range(len(choices)), len(choices))]
    sentences = [anonymised(sentence, choices, names) for sentence in _sentences(article)]
    before, behind = (anonymised(_tokens(part), choices, names) for part in (left, rest))
    right = correct.index(True)
    question = ClozeQuestion(sentences, [*before, BLANK, *behind], names, names[right])
    if question.answer not in question.document:
        name = " ".join(choices[right])
        raise DataError(f"{where}: the answer {name!r} is not in the article; expected it there")
    return question


def _sentences(text: str) -> list[list[str]]:
    return [list(tokenize(" ".join(words), False)) for words in split_sentences(text.split())]


def _tokens(text: str) -> list[str]:
    return [token for sentence in _sentences(text) for token in sentence]


def anonymised(
    tokens: Sequence[str], names: Sequence[Sequence[str]], replacements: Sequence[str]
) -> list[str]:
    """Tokens with each name replaced where all of its words stand in a row, longer names first."""
    longest = sorted(zip(names, replacements, strict=True), key=lambda pair: -len(pair[0]))
    result, place = [], 0
    while place < len(tokens):
        for name, replacement in [*longest, (tokens[place : place + 1], tokens[place])]:
            if [*tokens[place : place + len(name)]] == [*name]:
                result.append(replacement)
                place += len(name)
                break
    return result
