"""Read Who-Did-What (Onishi et al. 2016): cloze questions about persons in news articles.

    <mc>
      <question><leftcontext>...</leftcontext><blank/><rightcontext>...</rightcontext></question>
      <contextart>...</contextart>
      <choice correct="true" idx="0">...</choice> ...
    </mc>

The corpus needs a license and was not available here; the layout is that of public readers. The
entity `&nbsp;`, which XML does not define, becomes a space. As in Munkhdalai & Yu 2017 section 4.1,
each choice (a name of one or more words) is replaced by a randomly numbered token.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from xml.etree import ElementTree

from actmodels.errors import DataError
from pipeline.datasets.tokenizer import tokenize
from studies.cloze.question import BLANK, ClozeQuestion
from studies.cloze.sentences import split_sentences

TEXTS = ("leftcontext", "rightcontext", "contextart")


def read_questions(path: Path, seed: int) -> Iterator[ClozeQuestion]:
    """Yield the questions of one file; `seed` determines the numbers that replace names.

    Raises:
        DataError: the file is not XML or has no questions, or a question is malformed; names the
            file, and the line or the number of the question from 1.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes().replace(b"&nbsp;", b" "))
    except ElementTree.ParseError as error:
        raise DataError(f"{path}: not XML ({error}); expected a file of Who-Did-What") from error
    questions = root.findall(".//mc")
    if not questions:
        raise DataError(f"{path} has no questions; expected elements <mc>")
    for number, question in enumerate(questions):
        rng = Random(f"{seed} {number}")
        yield _parse_question(question, f"{path}, question {number + 1}", rng)


def _parse_question(element: ElementTree.Element, where: str, rng: Random) -> ClozeQuestion:
    texts = {name: ["".join(e.itertext()) for e in element.iter(name)] for name in TEXTS}
    for name, elements in texts.items():
        if (count := len(elements)) != 1:
            raise DataError(f"{where}: {count} elements <{name}>; expected one")
    choices = [_tokens("".join(choice.itertext())) for choice in element.iter("choice")]
    if len({*map(tuple, choices)} - {()}) < max(2, len(choices)):
        raise DataError(f"{where}: {len(choices)} elements <choice>; expected different names")
    correct = [choice.get("correct") == "true" for choice in element.iter("choice")]
    if sum(correct) != 1:
        raise DataError(f'{where}: {sum(correct)} choices with correct="true"; expected one')
    left, right, article = (texts[name][0] for name in TEXTS)
    entities = [f"@entity{number}" for number in rng.sample(range(len(choices)), len(choices))]
    sentences = [anonymize(sentence, choices, entities) for sentence in _sentences(article)]
    before, after = (anonymize(_tokens(part), choices, entities) for part in (left, right))
    answer = correct.index(True)
    question = ClozeQuestion(sentences, [*before, BLANK, *after], entities, entities[answer])
    if question.answer not in question.document:
        name = " ".join(choices[answer])
        raise DataError(f"{where}: the answer {name!r} is not in the article; expected it there")
    return question


def _sentences(text: str) -> list[list[str]]:
    return [list(tokenize(" ".join(words), False)) for words in split_sentences(text.split())]


def _tokens(text: str) -> list[str]:
    return [token for sentence in _sentences(text) for token in sentence]


def anonymize(
    tokens: Sequence[str], names: Sequence[list[str]], replacements: Sequence[str]
) -> list[str]:
    """Replace each occurrence of a name in tokens; longer names take precedence."""
    by_length = sorted(zip(names, replacements, strict=True), key=lambda pair: -len(pair[0]))
    result, start = [], 0
    while start < len(tokens):
        for name, replacement in by_length:
            if [*tokens[start : start + len(name)]] == name:
                result.append(replacement)
                start += len(name)
                break
        else:
            result.append(tokens[start])
            start += 1
    return result
