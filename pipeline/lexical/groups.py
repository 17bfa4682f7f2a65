"""The features of Bowman et al. 2015, section 3.2, of a pair of sentences, in groups.

Measures have no words in them: they say how alike two sentences are, each group in a fixed number
of real values. Indicators are the lexicalised features: which words and pairs of words. Each is a
whole number made of two others, `first << 32 | second`. Words and bigrams are numbered as training
brings them; what training never had is UNSEEN, which makes every feature with it negative, and
training has no negative ones. No feature is ever a string: full SNLI has tens of millions, 8 bytes
each here.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.sources.tokens import TokenPair
from pipeline.sources.word_kinds import kind_of

LONGEST = 4  # n-grams of BLEU
Numbers = NDArray[np.int64]
UNSEEN = -1
KINDS = ("content", "function", "mark")


def bleu(pair: TokenPair) -> list[float]:
    """BLEU of the hypothesis against the premise as its one reference [4]; each in [0, 1].

    One value for n-grams of at most 1, 2, 3 and 4 words (Papineni et al. 2002). From two words on,
    one is added to the matches and to the n-grams (Lin & Och 2004), for most short sentences share
    no long n-gram. Sentences without a common word have 0.
    """
    matches = _matches(pair, 1)
    if not matches:
        return [0.0] * LONGEST
    logarithms = [math.log(matches / len(pair.hypothesis))]
    for n in range(2, LONGEST + 1):
        matches = matches and _matches(pair, n)  # a long n-gram in both has short ones in both
        ngrams = max(1, len(pair.hypothesis) - n + 1)
        logarithms.append(math.log((matches + 1) / (ngrams + 1)))
    brevity = math.exp(min(0.0, 1 - len(pair.premise) / len(pair.hypothesis)))
    return [
        brevity * math.exp(math.fsum(1 / n * value for value in logarithms[:n]))
        for n in range(1, LONGEST + 1)
    ]


def _matches(pair: TokenPair, n: int) -> int:
    """N-grams of the hypothesis in the premise, each as often as both have it."""
    premise, hypothesis = (
        list(zip(*[sentence[start:] for start in range(n)], strict=False))
        for sentence in (pair.premise, pair.hypothesis)
    )
    common = set(premise).intersection(hypothesis)
    return sum(min(premise.count(one), hypothesis.count(one)) for one in common)


def length(pair: TokenPair) -> list[float]:
    """Tokens of the hypothesis less those of the premise [1]."""
    return [float(len(pair.hypothesis) - len(pair.premise))]


def overlap(pair: TokenPair) -> list[float]:
    """Distinct words in both sentences [4]: of all words the count and the share, of content too.

    The share is of the words that could be in both, those of the sentence with fewer of them;
    it is 0 where there is none. Content words are nouns, verbs, adjectives and adverbs
    together, told by `kind_of`.
    """
    values: list[float] = []
    for content in (False, True):
        premise, hypothesis = (
            {word for word in sentence if not content or kind_of(word) == "content"}
            for sentence in (pair.premise, pair.hypothesis)
        )
        common, possible = len(premise & hypothesis), min(len(premise), len(hypothesis))
        values += [float(common), common / possible if possible else 0.0]
    return values


class Measure(NamedTuple):
    """A group of features; `of` gives `width` values for a pair."""

    of: Callable[[TokenPair], list[float]]
    width: int


MEASURES = {
    "bleu": Measure(bleu, LONGEST),
    "length": Measure(length, 1),
    "overlap": Measure(overlap, 4),
}


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
