"""The features without words of Bowman et al. 2015, section 3.2: how alike two sentences are.

Each group gives a fixed number of real values for a pair.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from pipeline.lexical.words import kind_of
from pipeline.sources.tokens import TokenPair

LONGEST = 4  # n-grams of BLEU


def bleu(pair: TokenPair) -> list[float]:
    """BLEU of the hypothesis against the premise as its one reference [4]; each in [0, 1].

    One value for n-grams of at most 1, 2, 3 and 4 words (Papineni et al. 2002). From two words on,
    one is added to the matches and to the n-grams (Lin & Och 2004), for most short sentences share
    no long n-gram. Sentences without a common word have 0.
    """
    logarithms = []
    for n in range(1, LONGEST + 1):
        premise, hypothesis = _ngrams(pair.premise, n), _ngrams(pair.hypothesis, n)
        matches, added = (premise & hypothesis).total(), int(n > 1)
        if not matches + added:
            return [0.0] * LONGEST
        precision = (matches + added) / (max(1, hypothesis.total()) + added)
        logarithms.append(math.log(precision))
    brevity = math.exp(min(0.0, 1 - len(pair.premise) / len(pair.hypothesis)))
    return [
        brevity * math.exp(math.fsum(1 / n * value for value in logarithms[:n]))
        for n in range(1, LONGEST + 1)
    ]


def _ngrams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


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
