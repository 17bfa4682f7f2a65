"""Sparse feature matrices of sentence pairs (Bowman et al. 2015, section 3.2).

Measures are real-valued similarities of the two sentences. Indicators are lexicalized features: 0
or 1 for a word or a pair of words. Full SNLI has tens of millions of indicators, so they are
hashed (549,367 pairs with 900,900 columns took at most 2.6 GB).

Bowman et al. 2015 tag parts of speech. A tagger needs trained data that this project does not have.
Word classes are the substitute. They come from the English function words of scikit-learn, whose
318 words include numerals up to twelve, "no" and "not", but also nouns such as "front" or "fire".
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.preprocessing import StandardScaler

from actmodels.errors import DataError
from pipeline.datasets.tokenizer import is_word
from pipeline.datasets.tokens import TokenPair

MAX_N = 4  # of the n-grams of BLEU
# The maximum number of columns: one in seventy of 30 million features shares its column.
HASHER = FeatureHasher(2**31 - 1, input_type="string", alternate_sign=False)
Ngram = tuple[str, ...]


@cache  # one entry per distinct word of the corpus
def word_class(word: str) -> Literal["content", "function", "mark"]:
    """Return the class of a token; case is ignored.

    Returns:
        mark: a token without a letter or digit; function: a word of ENGLISH_STOP_WORDS, or one with
        an apostrophe ("n't", "'s"); content: nouns, verbs, adjectives and adverbs.
    """
    if not is_word(word):
        return "mark"
    if "'" in word or word.lower() in ENGLISH_STOP_WORDS:
        return "function"
    return "content"


def ngrams(tokens: Sequence[str], n: int) -> list[Ngram]:
    """Return the n-grams of a sentence."""
    return list(zip(*(tokens[start:] for start in range(n)), strict=False))


def bleu(pair: TokenPair) -> list[float]:
    """Return BLEU of the hypothesis against the premise, for n-grams up to 1, 2, 3 and 4 words.

    See Papineni et al. 2002. For n > 1, matches and n-grams are incremented by one (Lin & Och
    2004), because most short sentences share no long n-gram. Without a common word, BLEU is 0.
    """
    precisions = []
    for n in range(1, MAX_N + 1):
        premise, hypothesis = (Counter(ngrams(tokens, n)) for tokens in pair[3:5])
        added = int(n > 1)
        matches = (premise & hypothesis).total() + added
        precisions.append(matches / (max(1, hypothesis.total()) + added))
    brevity = math.exp(min(0.0, 1 - len(pair.premise) / len(pair.hypothesis)))
    return [
        brevity * math.prod(precisions[:n]) ** (1 / n) if precisions[0] else 0.0
        for n in range(1, MAX_N + 1)
    ]


def overlap(pair: TokenPair) -> list[float]:
    """Return count and share of the distinct common words, then of the common content words.

    The share is relative to the sentence with fewer distinct words; it is 0 if that has none.
    """
    values: list[float] = []
    for content in (False, True):
        premise, hypothesis = (
            {word for word in sentence if not content or word_class(word) == "content"}
            for sentence in (pair.premise, pair.hypothesis)
        )
        common, possible = len(premise & hypothesis), min(len(premise), len(hypothesis))
        values += [float(common), common / possible if possible else 0.0]
    return values


def crossed(pair: TokenPair, n: int) -> set[str]:
    """Return pairs of n-grams of premise and hypothesis whose last words have the same class.

    Bowman et al. 2015 require the same part of speech.
    """
    by_class: dict[str, set[str]] = defaultdict(set)
    for ngram in ngrams(pair.hypothesis, n):
        by_class[word_class(ngram[-1])].add(" ".join(ngram))
    return {
        f"{' '.join(ngram)} {other}"
        for ngram in set(ngrams(pair.premise, n))
        for other in by_class.get(word_class(ngram[-1]), ())
    }


MEASURES: dict[str, Callable[[TokenPair], list[float]]] = {
    "bleu": bleu,
    "length": lambda pair: [float(len(pair.hypothesis) - len(pair.premise))],
    "overlap": overlap,
}
INDICATORS: dict[str, Callable[[TokenPair], set[str]]] = {
    "hypothesis_ngrams": lambda pair: {
        " ".join(ngram) for n in (1, 2) for ngram in ngrams(pair.hypothesis, n)
    },
    "cross_unigrams": partial(crossed, n=1),
    "cross_bigrams": partial(crossed, n=2),
}
GROUPS = (*MEASURES, *INDICATORS)


class FrequentColumns:
    """Select the columns of a group of indicators that occur in enough training pairs."""

    def __init__(self, group: str, min_count: int) -> None:
        self._group, self._min_count = group, min_count

    def fit_transform(self, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
        """Select the columns and transform the matrix; raise DataError if none qualifies."""
        columns, counts = np.unique(matrix.indices, return_counts=True)
        self._columns = columns[counts >= self._min_count]
        if not len(self._columns):
            raise DataError(
                f"lexical_baseline.min_count is {self._min_count}; no feature of {self._group} "
                f"occurs in that many training pairs; lower it, or remove {self._group} from "
                "lexical_baseline.features"
            )
        return self.transform(matrix)

    def transform(self, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
        """Return the selected columns; slicing would allocate all columns of the hash."""
        at = np.searchsorted(self._columns, matrix.indices).clip(max=len(self._columns) - 1)
        known = self._columns[at] == matrix.indices
        starts = np.concatenate([[0], known.cumsum()])[matrix.indptr]
        shape = (matrix.shape[0], len(self._columns))
        return sparse.csr_matrix((matrix.data[known], at[known], starts), shape)


class Features:
    """Convert pairs to feature matrices; training pairs define the columns, in the order of GROUPS.

    Args:
        min_count: minimum number of training pairs with an indicator; 1 keeps all indicators, as in
            Bowman et al. 2015.

    Attributes:
        sizes: number of columns of each group, once fitted.
    """

    def __init__(self, groups: Sequence[str], min_count: int) -> None:
        self._steps = {
            name: StandardScaler() if name in MEASURES else FrequentColumns(name, min_count)
            for name in GROUPS
            if name in groups
        }
        self.sizes: dict[str, int] = {}

    def fit_transform(self, pairs: Sequence[TokenPair]) -> sparse.csr_matrix:
        """Fit the columns to training pairs; return their matrix [pairs, columns].

        Measures are standardized, so that the penalty treats them equally.

        Raises:
            DataError: no indicator of a group occurs in `min_count` pairs.
        """
        blocks = [step.fit_transform(_values(name, pairs)) for name, step in self._steps.items()]
        self.sizes = {name: block.shape[1] for name, block in zip(self._steps, blocks, strict=True)}
        return sparse.hstack([*map(sparse.csr_matrix, blocks)], "csr")

    def transform(self, pairs: Sequence[TokenPair]) -> sparse.csr_matrix:
        """Return the matrix of other pairs with the same columns."""
        blocks = [step.transform(_values(name, pairs)) for name, step in self._steps.items()]
        return sparse.hstack([*map(sparse.csr_matrix, blocks)], "csr")


def _values(group: str, pairs: Sequence[TokenPair]) -> NDArray[np.float64] | sparse.csr_matrix:
    if group in MEASURES:
        return np.array([MEASURES[group](pair) for pair in pairs])
    return HASHER.transform(map(INDICATORS[group], pairs))
