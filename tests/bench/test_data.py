"""Generated archives: the layout of SNLI and GloVe, and what they were measured to be like."""

import json
import statistics
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.data import VECTORS_MEMBER, write_corpus, write_vectors
from pipeline.sources.jsonl import read_split
from pipeline.sources.treebank import tokenise
from pipeline.sources.vectors import read_vectors

SIZES = {"train": 3_000, "dev": 10, "test": 9}


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


@pytest.mark.parametrize(("split", "pairs"), SIZES.items())
def test_our_reader_finds_the_pairs(archive: Path, split: str, pairs: int) -> None:
    found = list(read_split(archive, "snli_1.0", split, expected=pairs))
    assert len({pair.pair_id for pair in found}) == len(found)


def test_lines_are_like_those_of_snli(archive: Path, rows: list[dict[str, Any]]) -> None:
    # SNLI's dev split: 970 bytes a line
    assert 800 < statistics.mean(map(len, lines(archive, "train"))) < 1100
    assert all(len({row["sentence1"] for row in rows[at : at + 3]}) == 1 for at in range(0, 99, 3))
    tokens = [len(tokenise(row["sentence2"], True)) for row in rows]
    assert statistics.mean(tokens) == pytest.approx(7.8, rel=0.03)


def test_frequencies_follow_zipf(rows: list[dict[str, Any]]) -> None:
    """Of 37,000 words the first has a share of 1 in 11.1, the tenth a tenth of that."""
    words = Counter(word for row in rows for word in tokenise(row["sentence2"], True))
    del words["."]
    (_, first), *_, (_, tenth) = words.most_common(10)
    assert first / words.total() == pytest.approx(1 / 11.1, rel=0.05)
    assert tenth / words.total() == pytest.approx(1 / 111, rel=0.25)
    assert {",", "'s", ";"} < words.keys()


def test_same_arguments_same_bytes(archive: Path, tmp_path: Path) -> None:
    write_corpus(tmp_path / "again.zip", SIZES)
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()
    assert lines(archive, "dev")[0] != lines(archive, "train")[0]  # nor do splits share pairs


def test_words_of_the_corpus_have_vectors(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """All that the file has, have a spelling of their own."""
    write_vectors(tmp_path / "v.zip", 40_000, 5)
    with zipfile.ZipFile(tmp_path / "v.zip") as opened:
        text = opened.read(VECTORS_MEMBER).decode().splitlines()
    known = [line.split(" ")[0] for line in text]
    assert len(set(known)) == len(known) == 40_000
    assert {len(line.split(" ")) for line in text} == {6}
    words = {word for row in rows for word in tokenise(row["sentence1"], True)} - {"."}
    vectors, found = read_vectors(
        tmp_path / "v.zip", VECTORS_MEMBER, {word: at for at, word in enumerate(words)}, 5
    )
    assert found.all() and float(vectors.std()) == pytest.approx(0.4, rel=0.05)
