"""Each feature by hand: those without words, and which words and pairs of words."""

import math
import random
from itertools import pairwise

import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from pipeline.lexical.groups import (
    INDICATORS,
    UNSEEN,
    Numbering,
    bleu,
    cross_bigrams,
    cross_unigrams,
    hypothesis_ngrams,
    length,
    overlap,
)
from pipeline.sources.word_kinds import kind_of
from tests.pipeline.lexical.pairs import pair


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        *(("dog", "content"), ("running", "content"), ("red", "content"), ("22", "content")),
        *(("the", "function"), ("The", "function"), ("two", "function"), ("not", "function")),
        *(("n't", "function"), ("'s", "function"), (".", "mark"), ("--", "mark"), ("''", "mark")),
    ],
)
def test_kind_of_a_word(word: str, kind: str) -> None:
    assert kind_of(word) == kind


def test_bleu_by_hand() -> None:
    # hypothesis: a b c e; 3 of 4 words, then with one added to both 2 + 1 of 3 + 1 bigrams,
    # 1 + 1 of 2 + 1 trigrams and 0 + 1 of 1 + 1 fourgrams; premise of 5: brevity penalty
    brevity = math.exp(1 - 5 / 4)
    precisions = [3 / 4, 3 / 4, 2 / 3, 1 / 2]
    expected = [brevity * math.prod(precisions[:n]) ** (1 / n) for n in range(1, 5)]
    assert bleu(pair("a b c d f", "a b c e")) == pytest.approx(expected)


def test_bleu_of_single_words() -> None:
    assert bleu(pair("a b", "a a"))[0] == 0.5  # as often as the premise has it
    assert bleu(pair("a b c", "x y")) == [0.0, 0.0, 0.0, 0.0]
    assert all(0 < score <= 1 for score in bleu(pair("a", "a")))


def test_bleu_is_that_of_nltk_to_the_bit() -> None:
    draw = random.Random(1)
    weights = [(1 / n,) * n for n in range(1, 5)]
    for _ in range(1000):
        one, two = (draw.choices("abcdef", k=draw.randint(1, 9)) for _ in range(2))
        theirs = sentence_bleu([one], two, weights, SmoothingFunction().method2)
        assert bleu(pair(" ".join(one), " ".join(two))) == theirs


def test_length_is_signed() -> None:
    assert length(pair("a b c", "a")) == [-2.0]
    assert length(pair("a", "a b c")) == [2.0]


def test_overlap_by_hand() -> None:
    # distinct words: the dog runs . / the cat runs dog . -> the, dog, runs, . of 4;
    # content words: dog runs / cat runs dog -> dog, runs of 2
    found = overlap(pair("the dog dog runs .", "the the cat runs dog ."))
    assert found == [4.0, 1.0, 2.0, 1.0]
    # 2 of 3 words, 1 of 2 content words
    assert overlap(pair("the dog runs .", "the dog sleeps")) == [2.0, 2 / 3, 1.0, 0.5]
    assert overlap(pair("the dog", "the")) == [1.0, 1.0, 0.0, 0.0]  # no content words


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
