"""Cloze questions from any plain text, in the manner of the Children's Book Test.

Twenty sentences are the document, and a word of the one behind them is missing (Hill et al. 2015
section 2). All ten candidates stand in the document and are of one kind. Unlike theirs, the wrong
ones never stand in the query, where a reader could rule them out.

Rules over the whole text, instead of a tagger, choose the words; they miss some:

- a name begins with a capital inside a sentence, where grammar asks for none, and is never
  written small in the text. Days, months and peoples count as names;
- a common noun is written small, is no function word, and often stands between a determiner and a
  word that ends a noun phrase ("the lobster is", "a pair of"). Superlatives slip in.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from typing import Literal

from actmodels.errors import DataError
from pipeline.datasets.cbt import CANDIDATES
from pipeline.datasets.question import BLANK, ClozeQuestion
from pipeline.datasets.sentences import sections
from pipeline.datasets.word_classes import kind_of
from pipeline.parameters.section import SPLITS
from pipeline.parameters.study_sections import CONTEXT_LINES, ClozeText

Section = list[list[str]]
AnswerKind = Literal["NE", "CN"]  # named entities and common nouns, as CBT calls its files
DETERMINERS = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "every", "each", "another"),
        *("my", "your", "his", "her", "its", "our", "their"),
    )
)
# Behind these, what stands in front may well be an adjective: "the large and", "the more so".
OPEN_ENDED = frozenset(
    ("and", "or", "but", "yet", "nor", "very", "more", "most", "less", "least", "so", "as", "too")
)
SENTENCE_MARKS = frozenset(".;?!")
# Behind these, a capital may be that of a sentence.
OPENERS = frozenset(('"', "``", "“", "\u2018", "'", "`", ":", "(", "[", "—", "\u2013", "--", "..."))


def build_questions(
    lines: Iterable[str], source: str, config: ClozeText
) -> dict[AnswerKind, dict[str, list[ClozeQuestion]]]:
    """Draw the questions of each kind and split from the lines of a text.

    Raises:
        DataError: a split would be without questions; names the source.
    """
    found = sections(lines, config)
    text = [sentence for section in found for sentence in section]
    words: dict[AnswerKind, set[str]] = {
        "NE": names(text),
        "CN": common_nouns(text, config.min_noun_count, config.min_noun_share),
    }
    built: dict[AnswerKind, dict[str, list[ClozeQuestion]]] = {kind: {} for kind in words}
    for split, numbers in split_sections(len(found), config).items():
        for kind in words:
            questions = [
                question
                for number in numbers
                for question in _of_section(found[number], number, kind, words[kind], config)
            ]
            if not questions:
                problem = f"no {kind} question for {split} in {len(numbers)} sections"
                raise DataError(f"{source}: {problem}; take a longer text, or a larger share of it")
            built[kind][split] = questions
    return built


def split_sections(count: int, config: ClozeText) -> dict[str, list[int]]:
    """The numbers of each split's sections, in order."""
    order = list(range(count))
    Random(f"{config.seed} splits").shuffle(order)
    dev, test = round(count * config.dev_share), round(count * config.test_share)
    parts = (order[dev + test :], order[:dev], order[dev : dev + test])
    return {split: sorted(part) for split, part in zip(SPLITS, parts, strict=True)}


def _of_section(
    section: Section, number: int, kind: AnswerKind, words: set[str], config: ClozeText
) -> list[ClozeQuestion]:
    drawn = []
    for start in range(0, len(section) - CONTEXT_LINES, config.stride):
        draw = Random(f"{config.seed} {kind} {number} {start}")
        context, asked = section[start : start + CONTEXT_LINES], section[start + CONTEXT_LINES]
        if question := draw_question(context, asked, words, draw):
            drawn.append(question._replace(article=number))
    return drawn


def draw_question(
    context: Section, asked: Sequence[str], words: set[str], draw: Random
) -> ClozeQuestion | None:
    """Leave one of the `words` out of a sentence; None if no word will do."""
    # Sorted: the order of a set is another one in every process.
    present = sorted({token for sentence in context for token in sentence} & words)
    answers = [word for word in asked if word in present and asked.count(word) == 1]
    others = [word for word in present if word not in asked]
    if not answers or len(others) < CANDIDATES - 1:
        return None
    answer = draw.choice(answers)
    candidates = [answer, *draw.sample(others, CANDIDATES - 1)]
    draw.shuffle(candidates)
    query = [BLANK if word == answer else word for word in asked]
    return ClozeQuestion(context, query, candidates, answer)


def names(sentences: Iterable[Sequence[str]]) -> set[str]:
    """The names among the tokens of sentences."""
    inside, small = set(), set()
    for sentence in sentences:
        for before, word in zip(["", *sentence], sentence, strict=False):
            if word.islower():
                small.add(word)
            elif before and before not in OPENERS and _like_a_name(word):
                inside.add(word)
    return {word for word in inside if word.lower() not in small}


def _like_a_name(word: str) -> bool:
    letters = word.replace("-", "").replace("'", "")
    return word[0].isupper() and letters.isalpha() and any(letter.islower() for letter in word)


def common_nouns(sentences: Iterable[Sequence[str]], min_count: int, min_share: float) -> set[str]:
    """The common nouns among tokens, which stand where only a noun can at least `min_count` times
    and in at least `min_share` of their occurrences."""
    all_occurrences: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for sentence in sentences:
        all_occurrences.update(sentence)
        for before, word, after in zip(sentence, sentence[1:], sentence[2:], strict=False):
            if _only_a_noun_fits(before, word, after):
                as_noun[word] += 1
    return {
        word
        for word, count in as_noun.items()
        if count >= min_count and count >= min_share * all_occurrences[word]
    }


def _only_a_noun_fits(before: str, word: str, after: str) -> bool:
    ends = after in SENTENCE_MARKS or (kind_of(after) == "function" and after not in OPEN_ENDED)
    small = len(word) > 2 and word.isalpha() and word.islower()
    return before.lower() in DETERMINERS and ends and small and kind_of(word) == "content"
