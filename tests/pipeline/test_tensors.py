"""Stage `tensors`: ids and the digest."""

from pathlib import Path

import pytest
import torch

from actmodels.data.pairs import FIRST_WORD, UNKNOWN, PairTensors
from actmodels.data.trial_data import WordVectors
from actmodels.errors import ArtifactError, DataError
from actmodels.files import files_digest
from pipeline import tensors
from pipeline.datasets.encode import encode, spelling_hash
from pipeline.datasets.tokens import TokenPair, write_token_pairs, write_words
from tests.pipeline.project import read_output, write_params
from tests.samples import CLASSES

PAIRS = [
    TokenPair("p1", "entailment", 3, ["b", "a", "z"], ["a"]),
    TokenPair("p2", "contradiction", 0, ["a"], ["b", "b"]),
]


def test_encoding_by_hand() -> None:
    ids = {"a": FIRST_WORD, "b": FIRST_WORD + 1}
    result = encode(PAIRS, ids, CLASSES)
    assert result.tensors.premise_ids.tolist() == [4, 3, UNKNOWN, 3]
    assert result.tensors.premise_offsets.tolist() == [0, 3, 4]
    assert result.tensors.hypothesis_ids.tolist() == [3, 4, 4]
    assert result.tensors.labels.tolist() == [1, 2]
    assert result.tensors.depths.tolist() == [3, 0]
    assert result.pair_ids == ["p1", "p2"]
    assert encode(PAIRS, ids, CLASSES, max_tokens=2).pair_ids == ["p2"]
    assert encode(PAIRS, ids, CLASSES, max_tokens=2).dropped == 1


def test_trees_are_encoded_with_their_sentences() -> None:
    parsed = PAIRS[0]._replace(premise_tree=[0, 0, 2], hypothesis_tree=[0])
    result = encode([parsed] * 2, {}, CLASSES).tensors
    assert result.premise_tree.tolist() == [0, 0, 2, 0, 0, 2]  # type: ignore[union-attr]
    assert result.hypothesis_tree.tolist() == [0, 0]  # type: ignore[union-attr]
    assert encode(PAIRS, {}, CLASSES).tensors.premise_tree is None
    long = parsed._replace(premise=["a"] * 32_768)
    assert encode([long._replace(premise_tree=None)], {}, CLASSES).pair_ids == ["p1"]
    with pytest.raises(
        DataError, match=r"a sentence of p1 has 32,768 words; a parse has at most 32,"
    ):
        encode([long], {}, CLASSES)


def test_spelling_hash_is_stable_and_fits() -> None:
    assert spelling_hash("umbrella") == 1493570155965859216  # by sha256sum
    assert all(0 <= spelling_hash(word) < 2**63 for word in map(str, range(200)))


@pytest.fixture(autouse=True)
def _vocabulary(folder: Path) -> None:
    write_params(folder)
    for split in tensors.SPLITS:
        write_token_pairs(folder / "artifacts" / "vocabulary" / f"{split}.tsv", PAIRS)
    write_words(folder / "artifacts" / "vocabulary" / "words.tsv", [("b", 3), ("a", 3), ("z", 1)])
    vectors(folder, 3)


def vectors(folder: Path, words: int) -> None:
    (folder / "artifacts" / "vectors").mkdir(exist_ok=True)
    content = {"vectors": torch.ones(words, 4), "found": torch.ones(words, dtype=torch.bool)}
    torch.save(content, folder / "artifacts" / "vectors" / "vectors.pt")


def test_stage_and_digest(folder: Path) -> None:
    def digest() -> str:
        tensors.main()
        manifest = read_output(folder, "tensors", "manifest.json")
        assert manifest["pairs"] == {"train": 2, "dev": 2, "test": 2}
        names = [f"{split}{end}" for end in (".pt", "_ids.txt") for split in tensors.SPLITS]
        assert manifest["digest"] == files_digest(made, [*names, "embedding.pt"])
        return str(manifest["digest"])

    made = folder / "artifacts" / "tensors"
    first = digest()
    assert digest() == first
    assert PairTensors.load(made / "dev.pt").premise_ids.tolist() == [3, 4, 5, 4]
    assert (made / "test_ids.txt").read_text() == "p1\np2\n"
    assert WordVectors.load(made / "embedding.pt").word_hash[0] == spelling_hash("b")
    changed = [PAIRS[0]._replace(label="neutral"), PAIRS[1]]
    write_token_pairs(folder / "artifacts" / "vocabulary" / "test.tsv", changed)
    assert digest() != first


def words_in_train(folder: Path) -> list[bool]:
    tensors.main()
    result = WordVectors.load(folder / "artifacts" / "tensors" / "embedding.pt").in_train.tolist()
    return [bool(value) for value in result]


def test_words_of_training_pairs_are_marked(folder: Path) -> None:
    """The vocabulary is b, a, z; z occurs in one premise, b alone in one hypothesis."""
    assert words_in_train(folder) == [True, True, True]
    train = folder / "artifacts" / "vocabulary" / "train.tsv"
    write_token_pairs(train, PAIRS[1:])
    assert words_in_train(folder) == [True, True, False]
    write_token_pairs(train, [PAIRS[1]._replace(hypothesis=["z"])])
    assert words_in_train(folder) == [False, True, True]
    write_token_pairs(train, [PAIRS[1]._replace(premise=["outside"])])
    assert words_in_train(folder) == [True, False, False]
    write_token_pairs(train, PAIRS)
    write_params(folder, tensors={"max_tokens": 2})  # training leaves the first pair out
    assert words_in_train(folder) == [True, True, False]
    pairs = read_output(folder, "tensors", "manifest.json")["pairs"]
    assert pairs == {"train": 1, "dev": 2, "test": 2}  # their metrics stay comparable
    write_params(folder, tensors={"max_tokens": 1})
    problem = r"all 2 pairs of train were dropped; raise tensors\.max_tokens"
    with pytest.raises(DataError, match=problem):
        tensors.main()


def test_vectors_of_another_vocabulary_are_refused(folder: Path) -> None:
    vectors(folder, 2)
    with pytest.raises(ArtifactError, match=r"has 2 rows for 3 words; run: dvc repro -f vectors"):
        tensors.main()
