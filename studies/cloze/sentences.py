"""Split plain text into sections and sentences by rules, without trained data."""

import re
from collections.abc import Iterable, Iterator, Sequence

from pipeline.datasets.tokenizer import tokenize
from studies.cloze.section import ClozeText

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
