"""Sentence pairs as the sparse matrices of the lexicalised classifier.

Measured on a real SNLI subset (all groups, min_count 5, one thread): 0.08 ms of processor time a
pair for 56,318 pairs; 60 features a pair, 83,633 columns; one fit took 8 s. With the pairs repeated
to the 549,367 of full SNLI: 57 s of processor time, 2.8 GB at the highest. A fit is extrapolated to
some 5 minutes for each strength of the penalty.
"""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from actmodels.errors import DataError
from pipeline.lexical.groups import INDICATORS, MEASURES, Numbering, Numbers
from pipeline.sources.tokens import TokenPair

GROUPS = (*MEASURES, *INDICATORS)
Reals = NDArray[np.float64]


class _Rows:
    """The indicators of one group, pair after pair: 8 bytes each.

    Pair i has features[offsets[i]:offsets[i + 1]].
    """

    def __init__(self) -> None:
        self._features, self._offsets = array("q"), array("q", [0])

    def add(self, features: Numbers) -> None:
        self._features.frombytes(features.tobytes())
        self._offsets.append(len(self._features))

    @property
    def features(self) -> Numbers:
        return np.frombuffer(self._features, dtype=np.int64)

    def matrix(self, columns: Numbers) -> sparse.csr_matrix:
        """1 where a pair has the feature of a column [pairs, columns]; `columns` ascends."""
        offsets = np.frombuffer(self._offsets, dtype=np.int64)
        at = np.searchsorted(columns, self.features)
        at[at == len(columns)] = 0
        known = columns[at] == self.features
        starts = np.concatenate([[0], np.cumsum(known)])[offsets]
        shape = (len(offsets) - 1, len(columns))
        return sparse.csr_matrix((np.ones(starts[-1]), at[known], starts), shape=shape)


class Features:
    """The columns that training pairs define, and the matrix of any split in them.

    Args:
        groups: names out of GROUPS; whatever their order, columns follow that of GROUPS.
        min_count: training pairs that must have an indicator for it to be a column. Bowman et
            al. 2015 mention no such limit; 1 keeps all.

    Attributes:
        sizes: number of columns of each group, once fitted.
    """

    def __init__(self, groups: Sequence[str], min_count: int) -> None:
        self._measures = [name for name in MEASURES if name in groups]
        self._indicators = [name for name in INDICATORS if name in groups]
        self._min_count = min_count
        self._numbering = Numbering()
        self._scales: dict[str, tuple[Reals, Reals]] = {}
        self._columns: dict[str, Numbers] = {}
        self.sizes: dict[str, int] = {}

    def fit_transform(self, pairs: Iterable[TokenPair]) -> sparse.csr_matrix:
        """Choose the columns by the training pairs, and give their matrix [pairs, columns].

        Measures get mean 0 and standard deviation 1 over the training pairs, so that the penalty
        treats them alike; indicators are 0 or 1.

        Raises:
            DataError: no indicator of a group is in `min_count` pairs.
        """
        measured, found = self._read(pairs, learn=True)
        for name, values in measured.items():
            spread = values.std(axis=0)
            # a constant tells nothing and is 0 everywhere
            self._scales[name] = values.mean(axis=0), np.where(spread > 0, spread, 1.0)
            self.sizes[name] = values.shape[1]
        for name, rows in found.items():
            features, counts = np.unique(rows.features, return_counts=True)
            self._columns[name] = features[counts >= self._min_count]
            self.sizes[name] = len(self._columns[name])
            if not self.sizes[name]:
                raise DataError(
                    f"lexicalised.min_count is {self._min_count}; no feature of {name} is in so "
                    f"many training pairs; lower it, or take {name} out of lexicalised.features"
                )
        return self._matrix(measured, found)

    def transform(self, pairs: Iterable[TokenPair]) -> sparse.csr_matrix:
        """The matrix of other pairs in the same columns; what training never had is left out."""
        return self._matrix(*self._read(pairs, learn=False))

    def _read(
        self, pairs: Iterable[TokenPair], learn: bool
    ) -> tuple[dict[str, Reals], dict[str, _Rows]]:
        """Everything found in the pairs, which are gone through once and not kept."""
        measured = {name: array("d") for name in self._measures}
        found = {name: _Rows() for name in self._indicators}
        for pair in pairs:
            for name, values in measured.items():
                values.extend(MEASURES[name].of(pair))
            if found:
                sentences = self._numbering.pair(pair, learn)
                for name, rows in found.items():
                    rows.add(INDICATORS[name](*sentences))
        return {
            name: np.array(values).reshape(-1, MEASURES[name].width)
            for name, values in measured.items()
        }, found

    def _matrix(self, measured: dict[str, Reals], found: dict[str, _Rows]) -> sparse.csr_matrix:
        blocks = []
        for name, values in measured.items():
            mean, spread = self._scales[name]
            blocks.append(sparse.csr_matrix((values - mean) / spread))
        blocks += [rows.matrix(self._columns[name]) for name, rows in found.items()]
        return sparse.hstack(blocks, format="csr")
