"""Stage vocabulary: tokens, counts, dropped pairs."""

from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline import vocabulary
from pipeline.sources.jsonl import Pair, write_splits
from pipeline.sources.tokens import read_token_pairs
from tests.pipeline.project import told, write_params


@pytest.fixture(autouse=True)
def _corpus(folder: Path) -> None:
    write_params(folder)
    pairs = {
        "train": [
            Pair("t1", "neutral", "A dog's ball.", "A ball", 2),
            Pair("t2", "-", "Unlabelled words", "here"),
            Pair("t3", "entailment", "A dog", "a DOG"),
        ],
        "dev": [Pair("d1", "contradiction", "A cat", "no cat")],
        "test": [Pair("e1", "neutral", "A bird", "a bird")],
    }
    write_splits(folder / "artefacts" / "corpus", "snli", pairs)


def test_stage(folder: Path) -> None:
    vocabulary.main()
    made = folder / "artefacts" / "vocabulary"
    assert (made / "train.tsv").read_text().splitlines() == [
        "t1\tneutral\t2\ta dog 's ball .\ta ball",
        "t3\tentailment\t0\ta dog\ta dog",
    ]
    # By count, then by spelling.
    assert (made / "words.tsv").read_text().splitlines()[:5] == [
        *("a\t7", "dog\t3", "ball\t2", "bird\t2", "cat\t2"),
    ]
    assert told(folder, "vocabulary")["splits"]["train"] == {"labelled": 2, "dropped": 1}
    assert next(read_token_pairs(made / "dev.tsv")).hypothesis == ["no", "cat"]


def test_a_sentence_without_words_is_told(folder: Path) -> None:
    train, dev = [Pair("t1", "neutral", "A", "B")], [Pair("x7", "neutral", "A dog", " ")]
    write_splits(folder / "artefacts" / "corpus", "snli", {"train": train, "dev": dev})
    with pytest.raises(DataError, match=r"dev\.jsonl: the hypothesis of pair x7 has no words"):
        vocabulary.main()
    assert not (folder / "artefacts" / "vocabulary" / "dev.tsv").exists()


PARSED = Pair("t1", "neutral", "A dog's ball.", "A", 0, "( ( A ( dog 's ) ) ( ball . ) )", "A")
UNFIT = Pair("t2", "neutral", "A dog's ball.", "no cat", 0, "( ( A dog's ) ball. )", "")


def test_trees_are_those_of_parses_that_fit_and_others_branch_to_the_right(folder: Path) -> None:
    pairs = {split: [PARSED, UNFIT] for split in ("train", "dev", "test")}
    write_splits(folder / "artefacts" / "corpus", "snli", pairs)
    vocabulary.main()
    made = folder / "artefacts" / "vocabulary" / "train.tsv"
    parsed, unfit = read_token_pairs(made)
    assert (parsed.premise_tree, parsed.hypothesis_tree) == ([0, 0, 2, 0, 2], [0])
    assert (unfit.premise_tree, unfit.hypothesis_tree) == ([0, 0, 0, 0, 4], [0, 1])
    counted = told(folder, "vocabulary")["splits"]["train"]
    assert counted == {"labelled": 2, "dropped": 0, "parsed": 2, "right_branching": 2}


def test_a_split_without_any_parse_is_told(folder: Path) -> None:
    pairs = {"train": [PARSED], "dev": [UNFIT], "test": [PARSED]}
    write_splits(folder / "artefacts" / "corpus", "snli", pairs)
    problem = r"dev\.jsonl: no parse fits its sentence; take a corpus with binary parses, or set"
    with pytest.raises(DataError, match=problem):
        vocabulary.main()
