"""Stage `vectors` on a small vocabulary."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from actmodels.errors import DataError
from pipeline import vectors
from pipeline.datasets.tokens import write_words
from tests.pipeline.project import fetched, make_zip, read_output, write_params, written

COUNTS = [("the", 60), ("café", 30), ("zzz", 9), ("rare", 1)]


@pytest.fixture(autouse=True)
def _vocabulary(folder: Path) -> None:
    write_words(folder / "artifacts" / "vocabulary" / "words.tsv", COUNTS)


def run_vectors(folder: Path, size: int = 40_000, **changes: Any) -> tuple[Tensor, Tensor, Any]:
    """Run the stage; return the vectors, which words were found, and the summary."""
    write_params(folder, vocabulary={"size": size}, vectors=changes)
    vectors.main()
    stored = torch.load(folder / "artifacts" / "vectors" / "vectors.pt", weights_only=True)
    assert set(stored) == {"vectors", "found"}
    return stored["vectors"], stored["found"], read_output(folder, "vectors")


def of_glove(folder: Path, text: str) -> tuple[Tensor, Tensor, Any]:
    archive = fetched(make_zip(folder / "mirror.zip", {"v.txt": text.encode()}))
    glove = archive | {"member": "v.txt"}
    return run_vectors(folder, source="glove", dimensions=2, glove=glove)


def test_random(folder: Path) -> None:
    drawn, found, summary = run_vectors(folder)
    assert (drawn.shape, drawn.dtype) == ((4, 300), torch.float32)
    assert found.all()
    counted = {"words": 4, "found": 4, "type_coverage": 1.0, "token_coverage": 1.0}
    note = "4 of 4 words (100.0 %) and 100.0 % of the tokens have a random vector"
    assert summary == {"source": "random", "note": note} | counted
    before = written(folder, "vectors")
    assert torch.equal(run_vectors(folder, size=2)[0], drawn[:2])  # of a smaller vocabulary
    run_vectors(folder)
    assert written(folder, "vectors") == before  # the same bytes each time


def test_glove(folder: Path) -> None:
    text = "café 1 2\nzzz 0 0\nrare 3 4\nother 5 6\nthe 7 8\n"  # only zeros: no vector
    picked, found, summary = of_glove(folder, text)
    assert picked.tolist() == [[7, 8], [1, 2], [0, 0], [3, 4]]
    assert found.tolist() == [True, True, False, True]
    counted = {"words": 4, "found": 3, "type_coverage": 0.75, "token_coverage": 0.91}
    digest = hashlib.sha256((folder / "mirror.zip").read_bytes()).hexdigest()
    note = "3 of 4 words (75.0 %) and 91.0 % of the tokens have a glove vector"
    assert summary == {"source": "glove", "sha256": digest, "note": note} | counted
    plain = folder / "v.txt"
    plain.write_text("4 2\ncafé 1 2\nthe 7 8\n")
    own = {"urls": [plain.as_uri()], "sha256": None, "member": None}
    picked, _, summary = run_vectors(folder, source="glove", dimensions=2, glove=own)
    assert picked.tolist() == [[7, 8], [1, 2], [0, 0], [0, 0]]
    assert summary["sha256"] == hashlib.sha256(plain.read_bytes()).hexdigest()


def test_few_words_with_a_vector(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_glove(folder, "rare 3 4\nder 5 6\n")
    note = "warning: only 1 of 4 words (25.0 %) and 1.0 % of the tokens have a glove vector; see v"
    assert capsys.readouterr().out.startswith(note)


@pytest.mark.parametrize("text", ["der 1 2\n", "the 0 0\n", "the 3e38 3e38\n"])
def test_vectors_of_another_language_or_of_no_use(folder: Path, text: str) -> None:
    """The last ones have infinite length, and could not be scaled."""
    with pytest.raises(DataError, match=r"v\.txt in .*\.zip: no vector of any of the 4 words"):
        of_glove(folder, text)
    assert not (folder / "artifacts" / "vectors").exists()
    words = folder / "artifacts" / "vocabulary" / "words.tsv"
    write_words(words, [("琴", 1)])
    with pytest.raises(
        DataError, match="; some words are single characters, as of Chinese; take v"
    ):
        of_glove(folder, text)
