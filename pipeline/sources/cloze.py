"""Cloze questions from any plain text, in the manner of the Children's Book Test.

Twenty sentences are the document, and a word of the one behind them is missing (Hill et al. 2015
section 2). The answer stands in the document, as do all ten candidates, which are of its kind.
Unlike theirs, the other candidates never stand in the query, where a reader could rule them out.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

from actmodels.errors import DataError
from pipeline.parameters.cloze_text import CONTEXT_LINES, ClozeTextConfig
from pipeline.sources.answer_words import AnswerKind, common_nouns, names
from pipeline.sources.cbt import CANDIDATES, write_questions
from pipeline.sources.question import BLANK, ClozeQuestion
from pipeline.sources.sentences import sections

SPLITS = ("train", "dev", "test")
Section = list[list[str]]


def build_questions(
    lines: Iterable[str], source: str, config: ClozeTextConfig
) -> dict[AnswerKind, dict[str, list[ClozeQuestion]]]:
    """Draw the questions of each kind and split.

    Args:
        lines: the text. source: where it is from, for messages.

    Raises:
        DataError: a split would be without questions.
    """
    found = sections(lines, config.layout)
    text = [sentence for section in found for sentence in section]
    words: dict[AnswerKind, set[str]] = {
        "NE": names(text),
        "CN": common_nouns(text, config.min_noun_count, config.min_noun_share),
    }
    parts = split_sections(len(found), config)
    built = {
        kind: {
            split: [
                question
                for number in numbers
                for question in _of_section(found[number], number, kind, words[kind], config)
            ]
            for split, numbers in parts.items()
        }
        for kind in words
    }
    for kind, splits in built.items():
        for split, questions in splits.items():
            if parts[split] and not questions:
                raise DataError(
                    f"{source}: no {kind} question for {split} in {len(parts[split])} sections; "
                    "expected a longer text, or a larger share of it"
                )
    return built


def split_sections(count: int, config: ClozeTextConfig) -> dict[str, list[int]]:
    """The numbers of each split's sections, in order."""
    order = list(range(count))
    Random(f"{config.seed} splits").shuffle(order)
    dev, test = round(count * config.dev_share), round(count * config.test_share)
    parts = (order[dev + test :], order[:dev], order[dev : dev + test])
    return {split: sorted(part) for split, part in zip(SPLITS, parts, strict=True)}


def _of_section(
    section: Section, number: int, kind: AnswerKind, words: set[str], config: ClozeTextConfig
) -> list[ClozeQuestion]:
    drawn = []
    for start in range(0, len(section) - CONTEXT_LINES, config.stride):
        draw = Random(f"{config.seed} {kind} {number} {start}")
        context, asked = section[start : start + CONTEXT_LINES], section[start + CONTEXT_LINES]
        if question := draw_question(context, asked, words, draw):
            drawn.append(question)
    return drawn


def draw_question(
    context: Section, asked: Sequence[str], words: set[str], draw: Random
) -> ClozeQuestion | None:
    """Leave a word out of a sentence, or None if no word will do.

    Args:
        words: those that may be asked for.
    """
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


def write_splits(
    folder: Path, built: Mapping[AnswerKind, Mapping[str, Sequence[ClozeQuestion]]]
) -> None:
    """Write every kind's splits as `KIND/SPLIT.txt`, in the Children's Book Test's format."""
    for kind, splits in built.items():
        for split, questions in splits.items():
            write_questions(folder / kind / f"{split}.txt", questions)
