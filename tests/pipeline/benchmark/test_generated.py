"""Generated archives: the layout of SNLI and GloVe, and what they were measured to be like."""

import json
import statistics
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actmodels.data.labels import LABELS
from pipeline.benchmark.generated import VECTORS_MEMBER, write_corpus, write_vectors
from pipeline.sources.glove import read_vectors
from pipeline.sources.snli import read_split
from pipeline.sources.treebank import tokenise

SIZES = {"train": 3_000, "dev": 10, "test": 9}
KEYS = (
    *("annotator_labels", "captionID", "gold_label", "pairID"),
    *("sentence1", "sentence1_binary_parse", "sentence1_parse"),
    *("sentence2", "sentence2_binary_parse", "sentence2_parse"),
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "snli_1.0.zip"
    write_corpus(path, SIZES)
    return path


def lines(archive: Path, split: str) -> list[bytes]:
    with zipfile.ZipFile(archive) as opened:
        return opened.read(f"snli_1.0/snli_1.0_{split}.jsonl").splitlines()


@pytest.fixture(scope="module")
def rows(archive: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(archive, "train")]


def lengths(rows: list[dict[str, Any]], key: str) -> Iterator[int]:
    return (len(tokenise(row[key], True)) for row in rows)


@pytest.mark.parametrize(("split", "pairs"), SIZES.items())
def test_our_reader_finds_the_labelled_pairs(archive: Path, split: str, pairs: int) -> None:
    found = list(read_split(archive, "snli_1.0", split, expected=pairs))
    assert len({pair.pair_id for pair in found}) == len(found)
    assert max(Counter(pair.label for pair in found)[label] for label in LABELS) <= -(-pairs // 3)


def test_lines_are_like_those_of_snli(archive: Path, rows: list[dict[str, Any]]) -> None:
    assert all(tuple(row) == KEYS for row in rows)
    # SNLI's dev split: 970 bytes a line
    assert 800 < statistics.mean(map(len, lines(archive, "train"))) < 1100
    assert 0 < sum(row["gold_label"] == "-" for row in rows) < 20


def test_a_premise_stands_before_each_label(rows: list[dict[str, Any]]) -> None:
    labelled = [row for row in rows if row["gold_label"] != "-"]
    for first in range(0, len(labelled), 3):
        group = labelled[first : first + 3]
        assert len({row["sentence1"] for row in group}) == 1
        assert {row["gold_label"] for row in group} == set(LABELS)


def test_sentences_are_as_long_as_those_of_snli(rows: list[dict[str, Any]]) -> None:
    """Premises 14.1 tokens with standard deviation 6, hypotheses 7.8 with 3."""
    premises, hypotheses = list(lengths(rows[::3], "sentence1")), list(lengths(rows, "sentence2"))
    assert statistics.mean(premises) == pytest.approx(14.1, rel=0.04)
    assert statistics.stdev(premises) == pytest.approx(6, rel=0.08)
    assert statistics.mean(hypotheses) == pytest.approx(7.8, rel=0.03)
    assert statistics.stdev(hypotheses) == pytest.approx(3, rel=0.08)


def test_frequencies_follow_zipf(rows: list[dict[str, Any]]) -> None:
    """Of 37,000 words the first has a share of 1 in 11.1, the tenth a tenth of that."""
    words = Counter(word for row in rows for word in tokenise(row["sentence2"], True))
    del words["."]
    (_, first), *_, (_, tenth) = words.most_common(10)
    assert first / words.total() == pytest.approx(1 / 11.1, rel=0.05)
    assert tenth / words.total() == pytest.approx(1 / 111, rel=0.25)
    assert {",", "'s", ";"} < words.keys()


def test_same_seed_same_bytes(archive: Path, tmp_path: Path) -> None:
    again, other = tmp_path / "again.zip", tmp_path / "other.zip"
    write_corpus(again, SIZES)
    assert again.read_bytes() == archive.read_bytes()
    write_corpus(other, SIZES, seed=1)
    assert lines(other, "train")[0] != lines(archive, "train")[0]
    assert lines(archive, "dev")[0] != lines(archive, "train")[0]  # nor do splits share pairs


def test_vectors(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_vectors(tmp_path / f"{name}.zip", 1_000, 5)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as opened:
        text = opened.read(VECTORS_MEMBER).decode().splitlines()
    words = [line.split(" ")[0] for line in text]
    assert len(set(words)) == len(words) == 960  # each twenty-fifth of 1,000 is left out
    assert {len(line.split(" ")) for line in text} == {6}
    wanted = {word: row for row, word in enumerate(words)}
    vectors, found = read_vectors(tmp_path / "one.zip", VECTORS_MEMBER, wanted, 5)
    assert found.all() and float(vectors.std()) == pytest.approx(0.4, rel=0.05)


def test_words_of_the_corpus_have_vectors(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Nearly all of the words, as in SNLI; all that the file has, have a spelling of their own."""
    write_vectors(tmp_path / "v.zip", 400_000, 1)
    with zipfile.ZipFile(tmp_path / "v.zip") as opened:
        known = [line.split()[0] for line in opened.read(VECTORS_MEMBER).decode().splitlines()]
    assert len(set(known)) == len(known) == 384_000
    words = {word for row in rows for word in tokenise(row["sentence1"], True)}
    assert len(words & set(known)) / len(words) == pytest.approx(0.96, abs=0.02)
