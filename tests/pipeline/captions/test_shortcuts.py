"""Neither sentence alone, nor how long they are, tells the label (chance: a third)."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from pipeline.captions.corpus import generate_split
from pipeline.sources.jsonl import Pair
from pipeline.sources.treebank import tokenise
from tests.pipeline.captions.build import captions

SETTINGS = captions(train=12000, dev=1500, test=1, unlabelled=0.0)
CEILING = 0.40
Side = Callable[[Pair], str]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def train() -> list[Pair]:
    return list(generate_split(SETTINGS, "train"))


@pytest.fixture(scope="module")
def dev() -> list[Pair]:
    return list(generate_split(SETTINGS, "dev"))


def labels(pairs: list[Pair]) -> list[str]:
    return [pair.label for pair in pairs]


def words(sentence: str) -> list[str]:
    return list(tokenise(sentence, lowercase=True))


@pytest.mark.parametrize("side", ["hypothesis", "premise"])
def test_words_of_one_sentence(train: list[Pair], dev: list[Pair], side: str) -> None:
    counts = CountVectorizer(tokenizer=words, token_pattern=None, ngram_range=(1, 2))
    model = make_pipeline(counts, LogisticRegression(C=0.3, max_iter=200))
    model.fit([getattr(pair, side) for pair in train], labels(train))
    assert model.score([getattr(pair, side) for pair in dev], labels(dev)) < CEILING


def lengths(pairs: list[Pair]) -> np.ndarray:
    counts = np.array([[len(words(p.premise)), len(words(p.hypothesis))] for p in pairs])
    return np.column_stack([counts, counts[:, 0] - counts[:, 1]])


def test_lengths(train: list[Pair], dev: list[Pair]) -> None:
    model = RandomForestClassifier(100, min_samples_leaf=10, random_state=0)
    model.fit(lengths(train), labels(train))
    assert model.score(lengths(dev), labels(dev)) < CEILING


def missing(pairs: list[Pair]) -> np.ndarray:
    """How many words of the hypothesis the premise lacks, and how many there are."""
    rows = []
    for pair in pairs:
        there, asked = set(words(pair.premise)), words(pair.hypothesis)
        rows.append([sum(word not in there for word in asked), len(asked), len(there)])
    return np.array(rows)


def test_overlap_alone_is_not_enough(train: list[Pair], dev: list[Pair]) -> None:
    model = RandomForestClassifier(100, min_samples_leaf=10, random_state=0)
    model.fit(missing(train), labels(train))
    assert 1 / 3 < model.score(missing(dev), labels(dev)) < 0.6
