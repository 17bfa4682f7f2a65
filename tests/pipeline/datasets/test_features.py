"""Features computed by hand, and matrices whose columns come from the training pairs."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from actmodels.errors import DataError
from pipeline.datasets.features import INDICATORS, MEASURES, Features, bleu, overlap, word_class
from pipeline.datasets.tokens import TokenPair
from tests.pipeline.project import transcribe


def pair(premise: str, hypothesis: str, label: str = "neutral", name: str = "p") -> TokenPair:
    """A pair from sentences whose tokens are separated by spaces."""
    return TokenPair(name, label, 0, premise.split(), hypothesis.split())


def test_bleu_matches_nltk() -> None:
    draw = random.Random(1)
    weights = [(1 / n,) * n for n in range(1, 5)]
    for _ in range(1000):
        one, two = (draw.choices("abcdef", k=draw.randint(1, 9)) for _ in range(2))
        theirs = sentence_bleu([one], two, weights, SmoothingFunction().method2)
        assert bleu(pair(" ".join(one), " ".join(two))) == pytest.approx(theirs, rel=1e-12)


def test_features_by_hand(golden: Callable[..., None]) -> None:
    """The class of a bigram is that of its second word."""
    names = {
        "pair": pair,
        "overlap": overlap,
        "word_class": word_class,
        "length": MEASURES["length"],
    }
    indicators = {name: lambda *p, of=of: sorted(of(pair(*p))) for name, of in INDICATORS.items()}
    transcribe(golden, "features.txt", names | indicators)


TRAIN = [
    pair("a dog runs fast", "a dog moves dog moves"),
    pair("a dog sleeps", "a cat sleeps"),
    pair("a dog sleeps", "a dog sleeps"),
]
OTHER = [pair("a dog barks", "the unicorn sleeps"), pair("x", "a dog")]


def columns(*matrices: sparse.csr_matrix) -> list[list[float]]:
    """Stack matrices and sort their columns, whose order depends on a hash."""
    return sorted(sparse.vstack(matrices).T.toarray().tolist())


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("group", INDICATORS)
def test_indicators_match_count_vectorizer(group: str, min_count: int) -> None:
    features = Features([group], min_count)
    oracle = CountVectorizer(analyzer=INDICATORS[group], binary=True, min_df=min_count)
    ours = columns(features.fit_transform(TRAIN), features.transform(OTHER))
    assert ours == columns(oracle.fit_transform(TRAIN), oracle.transform(OTHER))
    assert features.sizes == {group: len(ours)}


def test_measures_are_standardized_by_the_training_pairs() -> None:
    features = Features(["length"], min_count=1)
    # differences 1, 0, 0: mean 1/3, standard deviation sqrt(2)/3
    spread = 2**0.5 / 3
    trained = features.fit_transform(TRAIN).toarray()
    assert trained == pytest.approx(np.array([[2 / 3], [-1 / 3], [-1 / 3]]) / spread)
    others = features.transform(OTHER).toarray()
    assert others == pytest.approx(np.array([[-1 / 3], [2 / 3]]) / spread)


def test_groups_are_concatenated_in_fixed_order() -> None:
    both = Features(["cross_unigrams", "overlap"], min_count=1)
    matrix = both.fit_transform(TRAIN).toarray()
    alone = [Features([name], min_count=1).fit_transform(TRAIN) for name in both.sizes]
    assert matrix.tolist() == sparse.hstack(alone).toarray().tolist()
    assert list(both.sizes) == ["overlap", "cross_unigrams"]


def test_a_group_without_frequent_features() -> None:
    message = (
        r"^lexical_baseline\.min_count is 9; no feature of cross_bigrams occurs in that many "
        r"training pairs; lower it, or remove cross_bigrams from lexical_baseline\.features$"
    )
    with pytest.raises(DataError, match=message):
        Features(["cross_bigrams"], min_count=9).fit_transform(TRAIN)
