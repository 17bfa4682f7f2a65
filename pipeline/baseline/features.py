"""The features of Bowman et al. 2015, section 3.2, of sentence pairs, as sparse matrices.

Measures are real values: how alike two sentences are. Indicators are the lexical_baseline features,
0 or 1: which words and pairs of words. Full SNLI has tens of millions, so they are hashed (549,367
pairs with 900,900 columns took 2.6 GB at most).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.preprocessing import StandardScaler

from actmodels.errors import DataError
from pipeline.datasets.tokens import TokenPair
from pipeline.datasets.word_classes import kind_of

LONGEST = 4  # n-grams of BLEU
# As many columns as scikit-learn has: of 30 million features one in seventy shares its column.
HASHER = FeatureHasher(2**31 - 1, input_type="string", alternate_sign=False)
Ngram = tuple[str, ...]


def ngrams(tokens: Sequence[str], n: int) -> list[Ngram]:
    """Every n tokens in a row."""
    return list(zip(*(tokens[start:] for start in range(n)), strict=False))


def bleu(pair: TokenPair) -> list[float]:
    """BLEU of the hypothesis against the premise as its one reference [4]; each in [0, 1].

    One value for n-grams of at most 1, 2, 3 and 4 words (Papineni et al. 2002). From two words on,
    one is added to the matches and to the n-grams (Lin & Och 2004), for most short sentences share
    no long n-gram. Sentences without a common word have 0.
    """
    precisions = []
    for n in range(1, LONGEST + 1):
        premise, hypothesis = (Counter(ngrams(tokens, n)) for tokens in pair[3:5])
        added = int(n > 1)
        matches = (premise & hypothesis).total() + added
        precisions.append(matches / (max(1, hypothesis.total()) + added))
    brevity = math.exp(min(0.0, 1 - len(pair.premise) / len(pair.hypothesis)))
    return [
        brevity * math.prod(precisions[:n]) ** (1 / n) if precisions[0] else 0.0
        for n in range(1, LONGEST + 1)
    ]


def overlap(pair: TokenPair) -> list[float]:
    """Distinct words in both sentences [4]: of all words the count and the share, of content too.

    The share is of the words that could be in both, those of the sentence with fewer of them;
    it is 0 where there is none. Content words are those of `kind_of`.
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


def hypothesis_ngrams(pair: TokenPair) -> set[str]:
    """The unigrams and bigrams of the hypothesis."""
    return {*pair.hypothesis, *map(" ".join, ngrams(pair.hypothesis, 2))}


def crossed(pair: TokenPair, n: int) -> set[str]:
    """Each n-gram of the premise with each of the hypothesis, if their last words are of one kind.

    Bowman et al. 2015: of the same part of speech.
    """
    of_kind: dict[str, set[str]] = defaultdict(set)
    for ngram in ngrams(pair.hypothesis, n):
        of_kind[kind_of(ngram[-1])].add(" ".join(ngram))
    return {
        f"{' '.join(ngram)} {other}"
        for ngram in set(ngrams(pair.premise, n))
        for other in of_kind.get(kind_of(ngram[-1]), ())
    }


MEASURES: dict[str, Callable[[TokenPair], list[float]]] = {
    "bleu": bleu,
    "length": lambda pair: [float(len(pair.hypothesis) - len(pair.premise))],
    "overlap": overlap,
}
INDICATORS: dict[str, Callable[[TokenPair], set[str]]] = {
    "hypothesis_ngrams": hypothesis_ngrams,
    "cross_unigrams": partial(crossed, n=1),
    "cross_bigrams": partial(crossed, n=2),
}
GROUPS = (*MEASURES, *INDICATORS)


class Frequent:
    """The columns of a group's indicators that enough training pairs have."""

    def __init__(self, group: str, min_count: int) -> None:
        self._group, self._min_count = group, min_count

    def fit_transform(self, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
        """Choose the columns, and return them of the same pairs; DataError if there is none."""
        columns, counts = np.unique(matrix.indices, return_counts=True)
        self._columns = columns[counts >= self._min_count]
        if not len(self._columns):
            raise DataError(
                f"lexical_baseline.min_count is {self._min_count}; no feature of {self._group} is "
                f"in so many training pairs; lower it, or take {self._group} out of "
                "lexical_baseline.features"
            )
        return self.transform(matrix)

    def transform(self, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
        """The chosen columns; slicing would allocate all that the hash has."""
        at = np.searchsorted(self._columns, matrix.indices).clip(max=len(self._columns) - 1)
        known = self._columns[at] == matrix.indices
        starts = np.concatenate([[0], known.cumsum()])[matrix.indptr]
        shape = (matrix.shape[0], len(self._columns))
        return sparse.csr_matrix((matrix.data[known], at[known], starts), shape)


class Features:
    """The columns that training pairs define, in the order of GROUPS, and the matrix of any split.

    Args:
        min_count: training pairs that must have an indicator for it to be a column; 1 keeps all,
            as Bowman et al. 2015 do.

    Attributes:
        sizes: number of columns of each group, once fitted.
    """

    def __init__(self, groups: Sequence[str], min_count: int) -> None:
        self._steps = {
            name: StandardScaler() if name in MEASURES else Frequent(name, min_count)
            for name in GROUPS
            if name in groups
        }
        self.sizes: dict[str, int] = {}

    def fit_transform(self, pairs: Sequence[TokenPair]) -> sparse.csr_matrix:
        """Choose the columns by the training pairs; return their matrix [pairs, columns].

        Measures get mean 0 and standard deviation 1 over the training pairs, so that the penalty
        treats them alike. Raises DataError if no indicator of a group is in `min_count` pairs.
        """
        blocks = [step.fit_transform(_values(name, pairs)) for name, step in self._steps.items()]
        self.sizes = {name: block.shape[1] for name, block in zip(self._steps, blocks, strict=True)}
        return sparse.hstack([*map(sparse.csr_matrix, blocks)], "csr")

    def transform(self, pairs: Sequence[TokenPair]) -> sparse.csr_matrix:
        """The matrix of other pairs in the same columns."""
        blocks = [step.transform(_values(name, pairs)) for name, step in self._steps.items()]
        return sparse.hstack([*map(sparse.csr_matrix, blocks)], "csr")


def _values(group: str, pairs: Sequence[TokenPair]) -> NDArray[np.float64] | sparse.csr_matrix:
    if group in MEASURES:
        return np.array([MEASURES[group](pair) for pair in pairs])
    return HASHER.transform(map(INDICATORS[group], pairs))
