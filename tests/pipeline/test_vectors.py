"""Stage `vectors` on a small vocabulary."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from actmodels.errors import DataError
from pipeline import vectors
from pipeline.datasets.tokens import write_words
from tests.pipeline.project import fetched, make_zip, read_output, transcribe, write_params, written

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


def test_random(folder: Path) -> None:
    drawn, found, summary = run_vectors(folder, source="random")
    assert (drawn.shape, drawn.dtype) == ((4, 300), torch.float32)
    assert found.all()
    counted = {"words": 4, "found": 4, "type_coverage": 1.0, "token_coverage": 1.0}
    note = "4 of 4 words (100.0 %) and 100.0 % of the tokens have a random vector"
    assert summary == {"source": "random", "note": note} | counted
    before = written(folder, "vectors")
    smaller, _, _ = run_vectors(folder, size=2, source="random")
    assert torch.equal(smaller, drawn[:2])
    run_vectors(folder, source="random")
    assert written(folder, "vectors") == before  # the same bytes each time


def test_glove(
    folder: Path, golden: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    def glove(text: str, *words: tuple[str, int], plain: bool = False) -> list[str]:
        write_words(folder / "artifacts" / "vocabulary" / "words.tsv", words or COUNTS)
        if plain:
            path = folder / "v.txt"
            path.write_text(text)
            source = fetched(path) | {"sha256": None, "member": None}
        else:
            path = make_zip(folder / "mirror.zip", {"v.txt": text.encode()})
            source = fetched(path) | {"member": "v.txt"}
        shutil.rmtree(folder / "artifacts" / "vectors", ignore_errors=True)
        try:
            picked, found, summary = run_vectors(folder, source="glove", dimensions=2, glove=source)
        except DataError:
            assert not (folder / "artifacts" / "vectors").exists()
            raise
        assert summary.pop("sha256") == hashlib.sha256(path.read_bytes()).hexdigest()
        return [f"{picked.tolist()} {found.tolist()}", f"{summary}", capsys.readouterr().out]

    transcribe(golden, "glove.txt", {"glove": glove}, f"{folder}/")
