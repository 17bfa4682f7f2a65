"""Word vectors from the training text: factors of the words' co-occurrences.

With c(w, v) the co-occurrences of two words, PPMI(w, v) = max(0, log(c(w, v) c / (c(w) c(v)))). A
vector is a row of U S^(1/2) of its singular value decomposition (Levy, Goldberg & Dagan 2015).
"""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import svds
from torch import Tensor
from tqdm import tqdm

DECIMALS = 4  # to which vectors are rounded, because processors differ in the next ones
TINY = 1e-6  # a vector this much shorter than the longest is rounding: roots of 1e-16


def train_vectors(
    words: Sequence[str],
    sentences: Iterable[Sequence[str]],
    dimensions: int,
    window: int,
    std: float,
) -> tuple[Tensor, Tensor]:
    """Return vectors, float32 [words, dimensions], and whether each is defined, bool [words].

    A word without neighbors has none.

    Args:
        sentences: of words; one that comes repeatedly counts once.
        dimensions: those beyond the number of words are zero.
        window: words on each side that are neighbors; one at distance d counts 1 / d.
        std: root mean square of the numbers of a vector, as of random ones.
    """
    rows = {word: row for row, word in enumerate(words)}
    distinct = dict.fromkeys(tuple(rows.get(word, -1) for word in one) for one in sentences)
    matrix = association(neighbors([*distinct], len(words), window))
    vectors = torch.zeros(len(words), dimensions)
    if matrix.nnz:
        factors = torch.from_numpy(factorize(matrix, min(dimensions, len(words) - 1)))
        lengths = factors.norm(dim=1, keepdim=True)
        defined = lengths > lengths.max() * TINY
        scaled = factors / lengths.where(defined, 1) * std * dimensions**0.5 * defined
        vectors[:, : factors.shape[1]] = scaled.round(decimals=DECIMALS) + 0.0  # no -0
    return vectors, vectors.any(dim=1)


def neighbors(sentences: Sequence[Sequence[int]], words: int, window: int) -> csr_array:
    """Count the neighbors of each word [words, words], symmetric; -1 is no word, but a place."""
    ids = np.fromiter((row for one in sentences for row in one), np.int64)
    lengths = np.fromiter(map(len, sentences), np.int64)
    number = np.repeat(np.arange(len(lengths)), lengths)
    counts = csr_array((words, words))
    distances = range(1, min(window, max(lengths, default=1) - 1) + 1)
    for distance in tqdm(distances, "count neighbors", unit=" distances"):
        left, right = ids[:-distance], ids[distance:]
        kept = (number[:-distance] == number[distance:]) & (left >= 0) & (right >= 0)
        weights = np.full(int(kept.sum()), 1 / distance)
        counts = counts + coo_array((weights, (left[kept], right[kept])), counts.shape).tocsr()
    return counts + counts.T


def association(counts: csr_array) -> csr_array:
    """Return the positive pointwise mutual information of co-occurrences."""
    pairs, totals = counts.tocoo(), counts.sum(axis=1)
    expected = totals[pairs.row] * totals[pairs.col] / totals.sum()
    values = np.log(pairs.data / expected)
    kept = values > 0
    return coo_array((values[kept], (pairs.row[kept], pairs.col[kept])), pairs.shape).tocsr()


def factorize(matrix: csr_array, rank: int) -> NDArray[np.float64]:
    """Return U S^(1/2) [words, rank]; the largest number of each column is positive."""
    start = np.ones(matrix.shape[0])  # otherwise it would be random
    left, values, _ = svds(matrix, k=rank, v0=start)
    order = np.argsort(-values)
    left, values = left[:, order], values[order]
    largest = left[np.abs(left).argmax(axis=0), np.arange(rank)]
    return left * np.sign(largest) * np.sqrt(values)
