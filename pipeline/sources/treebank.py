"""Sentences to tokens, as the Penn Treebank splits them: NLTK's word tokeniser, without its data.

That tokeniser runs some thirty expressions over a whole sentence, 60 to 120 microseconds of it.
What they do to a plain word (letters and digits, with apostrophes or hyphens inside) depends on
no other word, only on whether it is the last one and its full stop is the sentence's. So a
sentence of plain words, as 99 % of SNLI's are, is put together from words that were split before.
"""

import functools
import re

from nltk.tokenize import NLTKWordTokenizer

from actmodels.errors import DataError
from pipeline.sources.jsonl import Pair
from pipeline.sources.tokens import TokenPair

_tokenizer = NLTKWordTokenizer()
WORDS = 1 << 18  # kept at most: more than a corpus has, but a served model meets words for ever
_PLAIN = re.compile("[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*")


@functools.lru_cache(maxsize=4096)  # a premise of SNLI stands before three hypotheses in a row
def tokenise(sentence: str, lowercase: bool) -> tuple[str, ...]:
    """Split a sentence; no token holds white space of any kind."""
    text = sentence.lower() if lowercase else sentence
    return _of_plain_words(text) or _split(text)


def _split(text: str) -> tuple[str, ...]:
    # the tokeniser overlooks some kinds of white space
    return tuple(part for token in _tokenizer.tokenize(text) for part in token.split())


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


def tokenise_pair(pair: Pair, lowercase: bool, source: str) -> TokenPair:
    """Tokenise both sentences.

    Raises:
        DataError: a sentence has no token, so nothing could be attended to.
    """
    premise, hypothesis = tokenise(pair.premise, lowercase), tokenise(pair.hypothesis, lowercase)
    for part, tokens in {"premise": premise, "hypothesis": hypothesis}.items():
        if not tokens:
            raise DataError(
                f"{source}: the {part} of pair {pair.pair_id} has no words; "
                "mend or remove the pair in the corpus"
            )
    return TokenPair(pair.pair_id, pair.label, pair.depth, list(premise), list(hypothesis))
