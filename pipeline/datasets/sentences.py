"""Plain text to sections of sentences, by rules alone: nothing to download."""

import re
from collections.abc import Iterable, Iterator, Sequence

from pipeline.datasets.tokenizer import tokenize
from pipeline.parameters.study_sections import ClozeText

# Words in front of a full stop that does not end a sentence, besides single letters and those
# with another full stop inside.
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
    """Sections of sentences of tokens, in the text's order; a paragraph's end ends a sentence.

    No two sections share text: a later one lacks the sentences of those before it.
    """
    found: list[list[list[str]]] = [[]]
    for paragraph in _paragraphs(lines, layout):
        if paragraph is None:
            found.append([])
            continue
        for words in split_sentences(paragraph.split()):
            tokens = words if layout.tokenized else list(tokenize(" ".join(words), False))
            if not layout.section_pattern and len(found[-1]) >= layout.section_sentences:
                found.append([])
            found[-1].append(tokens)
    first: dict[tuple[str, ...], int] = {}
    kept = (
        [tokens for tokens in section if first.setdefault(tuple(tokens), number) == number]
        for number, section in enumerate(found)
    )
    return [section for section in kept if section]


def _paragraphs(lines: Iterable[str], layout: ClozeText) -> Iterator[str | None]:
    """Each paragraph, and None where a section begins."""
    begins, left_out = re.compile(layout.section_pattern), re.compile(layout.left_out_pattern)
    gathered: list[str] = []
    for raw in lines:
        line = raw.strip()
        mark = bool(layout.section_pattern and begins.fullmatch(line))
        skip = bool(layout.left_out_pattern and left_out.fullmatch(line))
        if mark or skip or not line or layout.paragraphs == "lines":
            if gathered:
                yield " ".join(gathered)
            gathered = []
        if mark:
            yield None
        elif line and not skip:
            gathered.append(line)
    if gathered:
        yield " ".join(gathered)


def split_sentences(words: Sequence[str]) -> list[list[str]]:
    """Split the words of a paragraph, as they stand between blanks.

    A sentence ends behind a full stop, question or exclamation mark and the quotation marks and
    brackets that close there, unless the next word begins with a small letter or the stop is an
    abbreviation's.
    """
    found: list[list[str]] = []
    current: list[str] = []
    ended = False
    for word in words:
        # the straight quotation mark may open or close
        closes = word in CLOSERS and (word != '"' or current.count('"') % 2 == 1)
        if ended and not closes:
            if not word.lstrip(OPENING)[:1].islower():
                found.append(current)
                current = []
            ended = False
        current.append(word)
        ended = ended or _ends(word)
    return [*found, current] if current else found


def _ends(word: str) -> bool:
    bare = word.rstrip(CLOSING)
    if not bare or bare[-1] not in ".!?":
        return False
    stem = bare[:-1].lstrip(OPENING)
    if bare[-1] != "." or not stem:
        return True
    abbreviated = "." in stem.strip(".") or (len(stem) == 1 and stem.isalpha())
    return not (abbreviated or stem.lower() in ABBREVIATIONS)
