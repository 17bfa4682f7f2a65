"""Build cloze questions from plain text, like the Children's Book Test, or read Who-Did-What.

Of plain text, twenty sentences are the document; the next sentence, without one word, is the query
(Hill et al. 2015 section 2). All ten candidates occur in the document and have the class of the
answer. Unlike theirs, no distractor occurs in the query, where a reader could exclude it.

Rules over the whole text replace a tagger; they miss some words:

- a name is capitalized inside a sentence and never lower-case in the text. Days, months and
  nationalities count as names;
- a common noun is lower-case, is not a function word, and often occurs between a determiner and a
  word that ends a noun phrase ("the lobster is", "a pair of"). Some superlatives pass.

Who-Did-What (Onishi et al. 2016) asks about persons in news articles:

    <mc>
      <question><leftcontext>...</leftcontext><blank/><rightcontext>...</rightcontext></question>
      <contextart>...</contextart>
      <choice correct="true" idx="0">...</choice> ...
    </mc>

The corpus needs a license and was not available here; the layout is that of public readers. The
entity `&nbsp;`, which XML does not define, becomes a space. As in Munkhdalai & Yu 2017 section 4.1,
each choice (a name of one or more words) is replaced by a randomly numbered token.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from xml.etree import ElementTree

from actmodels.errors import DataError
from pipeline.datasets.features import word_class
from pipeline.datasets.tokenizer import tokenize
from pipeline.parameters.section import SPLITS
from studies.cloze.question import BLANK, CANDIDATES, ClozeQuestion
from studies.cloze.section import CONTEXT_LINES, ClozeText

TextSection = list[list[str]]
Questions = dict[str, dict[str, list[ClozeQuestion]]]  # by answer class and split
DETERMINERS = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "every", "each", "another"),
        *("my", "your", "his", "her", "its", "our", "their"),
    )
)
# The word before these may be an adjective: "the large and", "the more so".
NOT_AFTER_NOUN = frozenset(
    ("and", "or", "but", "yet", "nor", "very", "more", "most", "less", "least", "so", "as", "too")
)
SENTENCE_MARKS = frozenset(".;?!")
# A capital after these may begin a sentence.
OPENERS = frozenset(('"', "``", "“", "\u2018", "'", "`", ":", "(", "[", "—", "\u2013", "--", "..."))
# Abbreviations before a full stop, in addition to single letters and words with a full stop inside
ABBREVIATIONS = frozenset(
    (
        *("mr", "mrs", "ms", "messrs", "dr", "prof", "rev", "hon", "st", "jr", "sr"),
        *("gen", "col", "capt", "lt", "sgt", "inc", "ltd", "co", "corp", "mt", "ft"),
        *("no", "vol", "fig", "pp", "vs", "cf", "ca", "approx"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    )
)
OPENING, CLOSING = "\"'“\u2018`([", "\"'”\u2019)]"
CLOSERS = frozenset({'"', "''", "”", "\u2019", ")", "]"})
TEXTS = ("leftcontext", "rightcontext", "contextart")


def build_questions(lines: Iterable[str], source: str, config: ClozeText) -> Questions:
    """Draw the questions of each answer class and split from the lines of a text.

    The answer classes are those of CBT: NE (named entities) and CN (common nouns).

    Raises:
        DataError: a split has no questions; names the source.
    """
    texts = sections(lines, config)
    sentences = [sentence for section in texts for sentence in section]
    words = {
        "NE": names(sentences),
        "CN": common_nouns(sentences, config.min_noun_count, config.min_noun_share),
    }
    built: Questions = {kind: {} for kind in words}
    for split, numbers in split_sections(len(texts), config).items():
        for kind in words:
            built[kind][split] = [
                question._replace(article=number)
                for number in numbers
                for start in range(0, len(texts[number]) - CONTEXT_LINES, config.stride)
                if (
                    question := draw_question(
                        texts[number][start : start + CONTEXT_LINES],
                        texts[number][start + CONTEXT_LINES],
                        words[kind],
                        Random(f"{config.seed} {kind} {number} {start}"),
                    )
                )
            ]
            if not built[kind][split]:
                problem = f"no {kind} question for {split} in {len(numbers)} sections"
                raise DataError(f"{source}: {problem}; take a longer text, or a larger share of it")
    return built


def split_sections(count: int, config: ClozeText) -> dict[str, list[int]]:
    """Assign sections to splits; return the sorted section numbers of each split."""
    order = list(range(count))
    Random(f"{config.seed} splits").shuffle(order)
    dev, test = round(count * config.dev_share), round(count * config.test_share)
    parts = (order[dev + test :], order[:dev], order[dev : dev + test])
    return {split: sorted(part) for split, part in zip(SPLITS, parts, strict=True)}


def draw_question(
    context: TextSection, sentence: Sequence[str], words: set[str], rng: Random
) -> ClozeQuestion | None:
    """Remove one of the `words` from a sentence; return None if no word qualifies."""
    # sorted, because the order of a set differs between processes
    present = sorted({token for tokens in context for token in tokens} & words)
    answers = [word for word in sentence if word in present and sentence.count(word) == 1]
    distractors = [word for word in present if word not in sentence]
    if not answers or len(distractors) < CANDIDATES - 1:
        return None
    answer = rng.choice(answers)
    candidates = [answer, *rng.sample(distractors, CANDIDATES - 1)]
    rng.shuffle(candidates)
    query = [BLANK if word == answer else word for word in sentence]
    return ClozeQuestion(context, query, candidates, answer)


def names(sentences: Iterable[Sequence[str]]) -> set[str]:
    """Return the names in tokenized sentences."""
    capitalized, lower = set(), set()
    for sentence in sentences:
        for before, word in zip(["", *sentence], sentence, strict=False):
            if word.islower():
                lower.add(word)
            elif before and before not in OPENERS and _resembles_name(word):
                capitalized.add(word)
    return {word for word in capitalized if word.lower() not in lower}


def _resembles_name(word: str) -> bool:
    letters = word.replace("-", "").replace("'", "")
    return word[0].isupper() and letters.isalpha() and any(letter.islower() for letter in word)


def common_nouns(sentences: Iterable[Sequence[str]], min_count: int, min_share: float) -> set[str]:
    """Return the common nouns in tokenized sentences.

    A common noun occurs in noun positions at least `min_count` times, and in at least a share
    `min_share` of its occurrences.
    """
    occurrences: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for sentence in sentences:
        occurrences.update(sentence)
        for before, word, after in zip(sentence, sentence[1:], sentence[2:], strict=False):
            if _is_noun_position(before, word, after):
                as_noun[word] += 1
    return {
        word
        for word, count in as_noun.items()
        if count >= min_count and count >= min_share * occurrences[word]
    }


def _is_noun_position(before: str, word: str, after: str) -> bool:
    ends_phrase = after in SENTENCE_MARKS or (
        word_class(after) == "function" and after not in NOT_AFTER_NOUN
    )
    lower = len(word) > 2 and word.isalpha() and word.islower()
    return before.lower() in DETERMINERS and ends_phrase and lower and word_class(word) == "content"


def sections(lines: Iterable[str], layout: ClozeText) -> list[list[list[str]]]:
    """Return sections of tokenized sentences in the order of the text.

    The end of a paragraph ends a sentence. A sentence that occurs in an earlier section is removed
    from later sections, so that no two sections share text.
    """
    parts: list[list[list[str]]] = [[]]
    for paragraph in _paragraphs(lines, layout):
        if paragraph is None:
            parts.append([])
            continue
        for words in split_sentences(paragraph.split()):
            tokens = words if layout.tokenized else list(tokenize(" ".join(words), False))
            if not layout.section_pattern and len(parts[-1]) >= layout.section_sentences:
                parts.append([])
            parts[-1].append(tokens)
    first: dict[tuple[str, ...], int] = {}
    unique = (
        [tokens for tokens in section if first.setdefault(tuple(tokens), number) == number]
        for number, section in enumerate(parts)
    )
    return [section for section in unique if section]


def _paragraphs(lines: Iterable[str], layout: ClozeText) -> Iterator[str | None]:
    """Yield each paragraph, and None where a section begins."""
    title, excluded = re.compile(layout.section_pattern), re.compile(layout.left_out_pattern)
    paragraph: list[str] = []
    for raw in lines:
        line = raw.strip()
        is_title = bool(layout.section_pattern and title.fullmatch(line))
        skip = bool(layout.left_out_pattern and excluded.fullmatch(line))
        if paragraph and (is_title or skip or not line or layout.paragraphs == "lines"):
            yield " ".join(paragraph)
            paragraph = []
        if is_title:
            yield None
        elif line and not skip:
            paragraph.append(line)
    if paragraph:
        yield " ".join(paragraph)


def split_sentences(words: Sequence[str]) -> list[list[str]]:
    """Split the space-separated words of a paragraph into sentences.

    A sentence ends after a full stop, a question mark or an exclamation mark and the quotes and
    brackets that close there. It does not end before a lower-case word or after an abbreviation.
    """
    sentences: list[list[str]] = []
    current: list[str] = []
    ended = False
    for word in words:
        # a straight quotation mark opens or closes
        closes = word in CLOSERS and (word != '"' or current.count('"') % 2 == 1)
        if ended and not closes:
            if not word.lstrip(OPENING)[:1].islower():
                sentences.append(current)
                current = []
            ended = False
        current.append(word)
        ended = ended or _ends_sentence(word)
    return [*sentences, current] if current else sentences


def _ends_sentence(word: str) -> bool:
    bare = word.rstrip(CLOSING)
    if not bare or bare[-1] not in ".!?":
        return False
    stem = bare[:-1].lstrip(OPENING)
    if bare[-1] != "." or not stem:
        return True
    abbreviated = "." in stem.strip(".") or (len(stem) == 1 and stem.isalpha())
    return not (abbreviated or stem.lower() in ABBREVIATIONS)


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
