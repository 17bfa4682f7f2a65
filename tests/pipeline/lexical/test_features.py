"""The matrix of a split: its columns come from training pairs alone."""

import numpy as np
import pytest
from scipy import sparse

from actmodels.errors import DataError
from pipeline.lexical.features import GROUPS, Features
from pipeline.sources.tokens import TokenPair
from tests.pipeline.lexical.pairs import pair

TRAIN = [
    pair("a dog runs fast", "a dog moves"),
    pair("a dog sleeps", "a cat sleeps"),
    pair("two cats sleep", "a dog sleeps"),
]
OTHER = [pair("a dog barks", "the unicorn sleeps"), pair("x", "a dog")]


def words(matrix: sparse.csr_matrix) -> list[list[float]]:
    rows: list[list[float]] = matrix.toarray().tolist()
    return rows


@pytest.mark.parametrize("groups", [[name] for name in GROUPS] + [list(GROUPS)])
def test_a_split_is_a_sparse_matrix_of_rows(groups: list[str]) -> None:
    features = Features(groups, min_count=1)
    for matrix, pairs in (
        (features.fit_transform(iter(TRAIN)), TRAIN),
        (features.transform(iter(OTHER)), OTHER),
    ):
        assert isinstance(matrix, sparse.csr_matrix)
        assert matrix.shape == (len(pairs), sum(features.sizes.values()))
        assert matrix.dtype == np.float64
        assert matrix.has_canonical_format
    assert list(features.sizes) == groups


def test_indicators_are_one_where_a_pair_has_them() -> None:
    features = Features(["hypothesis_ngrams"], min_count=1)
    # in order of first appearance, premise first: a dog runs fast moves sleeps cat two cats sleep;
    # of these the hypotheses have a dog moves sleeps cat
    # bigrams: a-dog dog-runs runs-fast dog-moves dog-sleeps a-cat cat-sleeps two-cats cats-sleep;
    # of these a-dog dog-moves dog-sleeps a-cat cat-sleeps
    assert words(features.fit_transform(TRAIN)) == [
        [1, 1, 1, 0, 0, 1, 1, 0, 0, 0],
        [1, 0, 0, 1, 1, 0, 0, 0, 1, 1],
        [1, 1, 0, 1, 0, 1, 0, 1, 0, 0],
    ]
    assert words(features.transform(OTHER)) == [
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 1, 0, 0, 0, 0],
    ]


def test_a_rare_indicator_has_no_column() -> None:
    features = Features(["hypothesis_ngrams"], min_count=2)
    # a, dog, sleeps, a-dog are in at least two hypotheses
    assert words(features.fit_transform(TRAIN)) == [[1, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1]]
    features = Features(["hypothesis_ngrams"], min_count=2)  # each counts once a pair
    features.fit_transform([pair("x", "dog dog dog"), pair("x", "cat"), pair("x", "cat")])
    assert features.sizes == {"hypothesis_ngrams": 1}


def test_measures_are_scaled_by_the_training_pairs() -> None:
    features = Features(["length"], min_count=1)
    # differences -1, 0, 0: mean -1/3, standard deviation sqrt(2)/3
    spread = 2**0.5 / 3
    trained = words(features.fit_transform(TRAIN))
    assert trained == pytest.approx(np.array([[-2 / 3], [1 / 3], [1 / 3]]) / spread)
    assert words(features.transform(OTHER)) == pytest.approx(np.array([[1 / 3], [4 / 3]]) / spread)


def test_a_measure_that_never_changes_is_nothing() -> None:
    features = Features(["length"], min_count=1)
    assert words(features.fit_transform([pair("a b", "a"), pair("a c", "b")])) == [[0], [0]]
    assert words(features.transform([pair("a b", "a b")])) == [[1]]


def test_features_of_the_hypothesis_leave_out_the_premise() -> None:
    premises = [["two", "cats", "sleep"], ["a", "cat", "sleeps", "fast"], ["a", "dog"]]
    other = [one._replace(premise=p) for one, p in zip(TRAIN, premises, strict=True)]
    changed = set()
    for group in GROUPS:
        features = Features([group], min_count=1)
        if words(features.fit_transform(TRAIN)) != words(features.transform(other)):
            changed.add(group)
    assert set(GROUPS) - changed == {"hypothesis_ngrams"}


def test_groups_stand_side_by_side_in_their_own_order() -> None:
    both = Features(["cross_unigrams", "length"], min_count=1)
    matrix = words(both.fit_transform(TRAIN))
    alone = [Features([name], min_count=1) for name in ("length", "cross_unigrams")]
    parts = [features.fit_transform(TRAIN) for features in alone]
    assert matrix == words(sparse.hstack(parts, format="csr"))
    assert list(both.sizes) == ["length", "cross_unigrams"]


def test_a_group_whose_features_are_all_rare_is_told() -> None:
    message = (
        r"^lexicalised\.min_count is 9; no feature of cross_bigrams is in so many training pairs; "
        r"lower it, or take cross_bigrams out of lexicalised\.features$"
    )
    with pytest.raises(DataError, match=message):
        Features(["cross_bigrams"], min_count=9).fit_transform(TRAIN)


def test_pairs_are_gone_through_once_and_in_step() -> None:
    """Nothing may hold the sentences of a split: full SNLI has 550,000 pairs."""
    alive = 0

    class Counted(list[str]):
        def __init__(self, tokens: list[str]) -> None:
            nonlocal alive
            alive += 1
            super().__init__(tokens)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    most = 0

    def stream() -> list[TokenPair]:
        nonlocal most
        for one in TRAIN * 50:
            most = max(most, alive)
            yield one._replace(premise=Counted(one.premise), hypothesis=Counted(one.hypothesis))

    Features(GROUPS, min_count=1).fit_transform(stream())
    assert most <= 4
