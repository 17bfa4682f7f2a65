"""The lexicalised features, each by hand."""

from itertools import pairwise

import pytest

from pipeline.lexical.groups import (
    INDICATORS,
    UNSEEN,
    Numbering,
    cross_bigrams,
    cross_unigrams,
    hypothesis_ngrams,
)
from tests.pipeline.lexical.pairs import pair

PREMISE = "the old dog runs ."
HYPOTHESIS = "a dog runs . runs ."


class Readable:
    """Features back to words, with a numbering that knows PREMISE and HYPOTHESIS."""

    def __init__(self) -> None:
        self.numbering = Numbering()
        tokens = [*PREMISE.split(), *HYPOTHESIS.split()]
        self.words = list(dict.fromkeys(tokens))
        bigrams = [*pairwise(PREMISE.split()), *pairwise(HYPOTHESIS.split())]
        self.bigrams = [" ".join(words) for words in dict.fromkeys(bigrams)]
        self.premise, self.hypothesis = self.numbering.pair(pair(PREMISE, HYPOTHESIS), learn=True)


@pytest.fixture
def known() -> Readable:
    return Readable()


def halves(features: list[int]) -> list[tuple[int, int]]:
    return [(feature >> 32, feature & 0xFFFFFFFF) for feature in features]


def test_unigrams_and_bigrams_of_the_hypothesis(known: Readable) -> None:
    found = halves(hypothesis_ngrams(known.premise, known.hypothesis).tolist())
    assert {known.words[at] for kind, at in found if kind == 0} == {"a", "dog", "runs", "."}
    bigrams = {known.bigrams[at] for kind, at in found if kind == 1}
    assert bigrams == {"a dog", "dog runs", "runs .", ". runs"}
    assert len(found) == 4 + 4


def test_cross_unigrams_join_words_of_one_kind(known: Readable) -> None:
    found = halves(cross_unigrams(known.premise, known.hypothesis).tolist())
    named = {(known.words[first], known.words[second]) for first, second in found}
    content = {(p, h) for p in ("old", "dog", "runs") for h in ("dog", "runs")}
    assert named == content | {("the", "a"), (".", ".")}
    assert len(found) == len(named)


def test_cross_bigrams_join_those_whose_second_words_are_of_one_kind(known: Readable) -> None:
    found = halves(cross_bigrams(known.premise, known.hypothesis).tolist())
    named = {(known.bigrams[first], known.bigrams[second]) for first, second in found}
    premise = ("the old", "old dog", "dog runs")
    hypothesis = ("a dog", "dog runs", ". runs")
    content = {(p, h) for p in premise for h in hypothesis}
    assert named == content | {("runs .", "runs .")}
    assert len(found) == len(named)


def test_the_hypothesis_alone_knows_nothing_of_the_premise(known: Readable) -> None:
    other, _ = known.numbering.pair(pair("some birds sleep", "x"), learn=True)
    alone = hypothesis_ngrams(known.premise, known.hypothesis)
    assert hypothesis_ngrams(other, known.hypothesis).tolist() == alone.tolist()
    for name in ("cross_unigrams", "cross_bigrams"):
        found = INDICATORS[name](known.premise, known.hypothesis).tolist()
        assert INDICATORS[name](other, known.hypothesis).tolist() != found


def test_what_training_lacks_gives_no_feature_of_training(known: Readable) -> None:
    premise, hypothesis = known.numbering.pair(pair("the unicorn runs", "dog unicorn"), learn=False)
    assert premise.words.tolist()[1] == UNSEEN
    assert premise.bigrams.tolist() == [UNSEEN, UNSEEN]
    for name, group in INDICATORS.items():
        trained = set(group(known.premise, known.hypothesis).tolist())
        assert min(trained) >= 0
        found = set(group(premise, hypothesis).tolist())
        assert any(feature < 0 for feature in found)
        # "dog" is in both hypotheses, and "runs" with "dog" in both pairs
        shared = {"hypothesis_ngrams": 1, "cross_unigrams": 1, "cross_bigrams": 0}
        assert len(found & trained) == shared[name]
    # a bigram of known words in an order that training lacks
    assert known.numbering.sentence(["runs", "dog"], learn=False).bigrams.tolist() == [UNSEEN]


@pytest.mark.parametrize("name", INDICATORS)
def test_one_word_each(name: str) -> None:
    numbering = Numbering()
    sentences = numbering.pair(pair("dog", "cat"), learn=True)
    assert len(INDICATORS[name](*sentences)) == (0 if name == "cross_bigrams" else 1)
