"""Sentences to tokens, as the Penn Treebank splits them.

The rules are those of the Treebank's sed script (MacIntyre 1995, `tokenizer.sed`) with what NLTK's
word tokeniser adds: typographic quotes and dashes, `*`, runs of full stops. Tests hold it against
that tokeniser, whose import takes seconds and 200 MB.

The rules run over a whole sentence. What they do to a plain word (letters and digits, with
apostrophes or hyphens inside) depends on no other word, only on whether it is the last one and its
full stop is the sentence's. So a sentence of plain words, as 99 % of SNLI's are, is put together
from words that were split before.
"""

import functools
import re

WORDS = 1 << 18  # kept at most: more than a corpus has, but a served model meets words for ever
_PLAIN = re.compile("[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*")

_APART = r" \g<0> "
# Each is replaced everywhere before the next begins.
_RULES = [
    (re.compile(pattern), new)
    for pattern, new in (
        # quotes that open
        (r"[«“\u2018„]|`+", _APART),
        (r'^"|``', " `` "),
        (r"""([ (\[{<])("|'')""", r"\1 `` "),
        (r"(?i)(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", r"\g<0> "),
        # marks; the last full stop is the sentence's, the others are of abbreviations
        (r"""([^.])(\.)([])}>"'»”\u2019 ]*+)[^\S\x1c-\x1f]*$""", r"\1 \2 \3 "),
        (r"([:,])(\D)", r" \1 \2"),
        (r"[:,]$", _APART),
        (r"\.{2,}|[;@#$%&?!\u2012-\u2015]", _APART),
        (r"([^'])' ", r"\1 ' "),
        (r"--|[][(){}<>*]", _APART),
        # quotes that close, and what an apostrophe begins
        (r"\A|\Z", " "),
        (r"[»”\u2019]", _APART),
        (r"""''|\"""", " '' "),
        (r"[^\S\x1c-\x1f]+", " "),
        (r"([^' ])('[sSmMdD]?) ", r"\1 \2 "),
        (r"([^' ])('(?:ll|LL|re|RE|ve|VE)|n't|N'T) ", r"\1 \2 "),
        # words that are two
        (
            r"(?i)\b(can(?=not\b)|d(?='ye\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)"
            r"|more(?='n\b)|wan(?=na\s))(not|'ye|me|na|ta|'n)",
            r" \1 \2 ",
        ),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
]


@functools.lru_cache(maxsize=4096)  # a premise of SNLI stands before three hypotheses in a row
def tokenise(sentence: str, lowercase: bool) -> tuple[str, ...]:
    """Split a sentence; no token holds white space of any kind."""
    text = sentence.lower() if lowercase else sentence
    return _of_plain_words(text) or _split(text)


def _split(text: str) -> tuple[str, ...]:
    """The tokens by the rules, which run over the whole sentence."""
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return tuple(text.split())


def _of_plain_words(text: str) -> tuple[str, ...]:
    """The tokens of a sentence of plain words between blanks; empty for any other."""
    if not (text.isascii() and text.isprintable()):  # the blank is then the only white space
        return ()
    *inner, last = text.split() or [""]
    tokens: list[str] = []
    for word in inner:
        if not (parts := _marked(word, ",")):
            return ()
        tokens += parts
    parts = _marked(last, ".,?!")
    return (*tokens, *parts) if parts else ()


@functools.lru_cache(maxsize=WORDS)
def _marked(word: str, marks: str) -> tuple[str, ...]:
    """The tokens of a plain word with at most one of these marks behind it; else empty."""
    bare = word[:-1] if word.endswith(tuple(marks)) else word
    parts = _plain(bare)
    return (*parts, *word[len(bare) :]) if parts else ()


@functools.lru_cache(maxsize=WORDS)
def _plain(word: str) -> tuple[str, ...]:
    """The tokens of a plain word; empty for any other."""
    return _split(word) if _PLAIN.fullmatch(word) else ()
