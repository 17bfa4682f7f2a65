"""The features without words, each by hand."""

import math
import random

import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from pipeline.lexical.groups import MEASURES, bleu, length, overlap
from pipeline.lexical.words import kind_of
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


def test_bleu_counts_a_word_as_often_as_the_premise_has_it() -> None:
    assert bleu(pair("a b", "a a"))[0] == 0.5


def test_bleu_without_a_common_word_is_nothing() -> None:
    assert bleu(pair("a b c", "x y")) == [0.0, 0.0, 0.0, 0.0]


def test_bleu_of_one_word_is_finite() -> None:
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


def test_overlap_without_content_words_is_nothing() -> None:
    assert overlap(pair("the dog", "the")) == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_has_its_width(name: str) -> None:
    measure = MEASURES[name]
    for sentences in (("a", "a"), ("a b c d e", "f"), ("the", "a b c d e f .")):
        assert len(measure.of(pair(*sentences))) == measure.width
