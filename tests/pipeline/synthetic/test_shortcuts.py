"""Neither single sentences nor lengths predict the label (chance: one third)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from pipeline.datasets.pairs import Pair
from pipeline.datasets.tokenizer import tokenize
from pipeline.synthetic.corpus import generate_split
from tests.pipeline.synthetic.build import captions

SETTINGS = captions(train=12000, dev=1500, test=1, unlabeled=0.0)
CEILING = 0.40
Pairs = list[Pair]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def splits() -> list[Pairs]:
    return [list(generate_split(SETTINGS, split)) for split in ("train", "dev")]


def accuracy(splits: list[Pairs], model: Any, features: Callable[[Pairs], Any]) -> float:
    train, dev = [(features(pairs), [pair["gold_label"] for pair in pairs]) for pairs in splits]
    return float(model.fit(*train).score(*dev))


def words(sentence: str) -> list[str]:
    return list(tokenize(sentence, lowercase=True))


@pytest.mark.parametrize("side", ["sentence1", "sentence2"])
def test_words_of_one_sentence(splits: list[Pairs], side: str) -> None:
    counts = CountVectorizer(tokenizer=words, token_pattern=None, ngram_range=(1, 2))
    model = make_pipeline(counts, LogisticRegression(C=0.3, max_iter=200))
    assert accuracy(splits, model, lambda pairs: [pair[side] for pair in pairs]) < CEILING


def lengths(pairs: Pairs) -> np.ndarray:
    counts = [[len(words(pair[f"sentence{side}"])) for side in (1, 2)] for pair in pairs]
    return np.column_stack([counts, -np.diff(counts)])


def missing(pairs: Pairs) -> np.ndarray:
    """Return the number of new words of the hypothesis, and both numbers of words."""
    rows = []
    for pair in pairs:
        premise, hypothesis = set(words(pair["sentence1"])), words(pair["sentence2"])
        new = sum(word not in premise for word in hypothesis)
        rows.append([new, len(hypothesis), len(premise)])
    return np.array(rows)


@pytest.mark.parametrize(("features", "ceiling"), [(lengths, CEILING), (missing, 0.6)])
def test_lengths_and_overlap_alone_are_not_enough(
    splits: list[Pairs], features: Callable[[Pairs], np.ndarray], ceiling: float
) -> None:
    model = RandomForestClassifier(100, min_samples_leaf=10, random_state=0)
    assert accuracy(splits, model, features) < ceiling
