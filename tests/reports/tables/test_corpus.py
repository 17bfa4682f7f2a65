import pytest

from reports.stored.artefacts import Artefacts
from reports.tables.published import SNLI_TRAIN, Corpus


def test_read_from_the_artefacts(artefacts: Artefacts) -> None:
    assert Corpus.of(artefacts) == Corpus("captions", 800, 100, 100, "random")


def test_a_generated_corpus_is_never_comparable() -> None:
    corpus = Corpus("captions", SNLI_TRAIN, 9842, 9824, "random")
    assert not corpus.comparable
    assert "generated corpus of captions (549,367 training" in corpus.sentence()
    assert "not comparable with those published for SNLI" in corpus.sentence()


def test_part_of_snli_says_how_much() -> None:
    corpus = Corpus("snli", 20_000, 9842, 9824, "glove")
    assert not corpus.comparable
    assert corpus.sentence().startswith(
        "a 20,000-pair SNLI subset, **not comparable with full SNLI**"
    )
    assert corpus.label == "SNLI subset, 20,000 pairs"


def test_all_of_snli() -> None:
    corpus = Corpus("snli", SNLI_TRAIN, 9842, 9824, "glove")
    assert corpus.comparable and corpus.label == "SNLI"
    assert corpus.sentence() == "SNLI (549,367 training, 9,842 dev and 9,824 test pairs)"


@pytest.mark.parametrize(
    ("vectors", "said"), [("random", "random"), ("glove", "pre-trained"), ("", "")]
)
def test_the_source_of_the_vectors(vectors: str, said: str) -> None:
    sentence = Corpus("snli", 1, 1, 1, vectors).vectors_sentence()
    assert said in sentence and bool(sentence) is bool(vectors)
