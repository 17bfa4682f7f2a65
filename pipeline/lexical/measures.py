"""The features without words of Bowman et al. 2015, section 3.2: how alike two sentences are.

Each group gives a fixed number of real values for a pair.
"""

from collections.abc import Callable
from typing import NamedTuple

from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from pipeline.lexical.words import kind_of
from pipeline.sources.tokens import TokenPair

LONGEST = 4  # n-grams of BLEU
_WEIGHTS = [(1 / longest,) * longest for longest in range(1, LONGEST + 1)]
_smoothing = SmoothingFunction().method2


def bleu(pair: TokenPair) -> list[float]:
    """BLEU of the hypothesis against the premise as its one reference [4]; each in [0, 1].

    One value for n-grams of at most 1, 2, 3 and 4 words. From two words on, one is added to the
    matches and to the n-grams (Lin & Och 2004; NLTK's method2), for most short sentences share
    no long n-gram. Sentences without a common word have 0.
    """
    scores = sentence_bleu(
        [pair.premise], pair.hypothesis, weights=_WEIGHTS, smoothing_function=_smoothing
    )
    return [float(score) for score in scores]


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
