"""The lexicalised features of Bowman et al. 2015, section 3.2: which words and pairs of words.

A feature is a whole number made of two others, `first << 32 | second`. Words and bigrams are
numbered as training brings them; what training never had is UNSEEN, which makes every feature
with it negative, and training has no negative ones. No feature is ever a string: full SNLI has
tens of millions, 8 bytes each here.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.lexical.words import kind_of
from pipeline.sources.tokens import TokenPair

Numbers = NDArray[np.int64]
UNSEEN = -1
KINDS = ("content", "function", "mark")


class Sentence(NamedTuple):
    """A sentence in numbers.

    words: [tokens]. bigrams: [tokens - 1]. kinds: [tokens], index into KINDS.
    """

    words: Numbers
    bigrams: Numbers
    kinds: Numbers


class Numbering:
    """Numbers of words and of bigrams, in the order in which they were first seen."""

    def __init__(self) -> None:
        self._words: dict[Hashable, int] = {}
        self._bigrams: dict[Hashable, int] = {}

    def sentence(self, tokens: Sequence[str], learn: bool) -> Sentence:
        """Look a sentence up; `learn` gives new words and bigrams a number, else UNSEEN."""
        words = _look_up(self._words, tokens, learn)
        # of numbers, not of texts: a bigram with an unseen word is unseen, as training had none
        bigrams = _look_up(self._bigrams, pairwise(words), learn)
        kinds = [KINDS.index(kind_of(token)) for token in tokens]
        return Sentence(_array(words), _array(bigrams), _array(kinds))

    def pair(self, pair: TokenPair, learn: bool) -> tuple[Sentence, Sentence]:
        """Premise and hypothesis."""
        return self.sentence(pair.premise, learn), self.sentence(pair.hypothesis, learn)


def hypothesis_ngrams(premise: Sentence, hypothesis: Sentence) -> Numbers:
    """The unigrams and bigrams of the hypothesis; the premise is not looked at."""
    return np.union1d(hypothesis.words, _joined(_array([1]), hypothesis.bigrams))


def cross_unigrams(premise: Sentence, hypothesis: Sentence) -> Numbers:
    """A word of the premise with a word of the hypothesis of the same kind.

    Bowman et al. 2015: of the same part of speech.
    """
    alike = premise.kinds[:, None] == hypothesis.kinds
    return np.unique(_joined(premise.words[:, None], hypothesis.words)[alike])


def cross_bigrams(premise: Sentence, hypothesis: Sentence) -> Numbers:
    """A bigram of the premise with one of the hypothesis, their second words of the same kind.

    Bowman et al. 2015: of the same part of speech.
    """
    alike = premise.kinds[1:, None] == hypothesis.kinds[1:]
    return np.unique(_joined(premise.bigrams[:, None], hypothesis.bigrams)[alike])


# Each gives the distinct features of one pair, in ascending order.
INDICATORS: dict[str, Callable[[Sentence, Sentence], Numbers]] = {
    "hypothesis_ngrams": hypothesis_ngrams,
    "cross_unigrams": cross_unigrams,
    "cross_bigrams": cross_bigrams,
}


def _look_up(numbers: dict[Hashable, int], things: Iterable[Hashable], learn: bool) -> list[int]:
    if learn:
        return [numbers.setdefault(thing, len(numbers)) for thing in things]
    return [numbers.get(thing, UNSEEN) for thing in things]


def _array(numbers: Sequence[int]) -> Numbers:
    return np.array(numbers, dtype=np.int64)


def _joined(first: Numbers, second: Numbers) -> Numbers:
    return (first << 32) | second
