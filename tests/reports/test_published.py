import re

import pytest

from reports.published import (
    PAPER_BY_STEPS,
    ROWS,
    SNLI_TRAIN,
    TABLE_1,
    Corpus,
    published_accuracy,
)
from reports.stored.artefacts import Artefacts


def test_the_ablation_is_that_of_table_1() -> None:
    own = {row.system: row.accuracy for row in ROWS if row.source == TABLE_1}
    found = {
        int(steps[1]) if (steps := re.search(r", (\d) steps", system)) else None: accuracy
        for system, accuracy in own.items()
        if system.startswith("Adaptive Attention")
    }
    assert found == PAPER_BY_STEPS


def test_table_1_is_whole() -> None:
    assert sum(TABLE_1 in row.source for row in ROWS) == 12


def test_every_row_is_cited() -> None:
    assert all(re.search(r"20\d\d|github|thesis|arXiv", row.source) for row in ROWS)
    assert all(60 < row.accuracy < 100 for row in ROWS)


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


def test_the_two_figures_for_decomposable_attention() -> None:
    own = published_accuracy("200D Decomposable Attention, the paper's own")
    assert (published_accuracy("200D Decomposable Attention"), own) == (86.3, 83.8)
