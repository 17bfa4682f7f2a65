"""The vectors stage on a small vocabulary."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from ruamel.yaml import YAML
from torch import Tensor

from actmodels.errors import ArtefactError, DataError
from pipeline import vectors
from pipeline.sources.tokens import write_words
from tests.pipeline.sources.zips import make_zip

ROOT = Path(__file__).parents[2]
COUNTS = [("the", 60), ("café", 30), ("zzz", 9), ("rare", 1)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_words(tmp_path / "artefacts" / "vocabulary" / "words.tsv", COUNTS)
    return tmp_path


def project(folder: Path, size: int = 40_000, **changes: Any) -> None:
    params = YAML(typ="safe").load(ROOT / "params.yaml")
    params["vocabulary"]["size"] = size
    params["vectors"] |= changes
    YAML().dump(params, folder / "params.yaml")


def glove_project(folder: Path, text: str, mean_norm: float | None = None) -> None:
    archive = make_zip(folder / "mirror.zip", {"v.txt": text.encode()})
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    glove = {"urls": [archive.as_uri()], "sha256": digest, "bytes": None, "member": "v.txt"}
    glove |= {"mean_norm": mean_norm}
    project(folder, source="glove", dimensions=2, glove=glove)


def made(folder: Path) -> tuple[Tensor, Tensor, dict[str, float]]:
    stored = torch.load(folder / "artefacts" / "vectors" / "vectors.pt", weights_only=True)
    assert set(stored) == {"vectors", "found"}
    summary = json.loads((folder / "artefacts" / "vectors" / "summary.json").read_text())
    return stored["vectors"], stored["found"], summary


def test_random(folder: Path) -> None:
    project(folder)
    vectors.main()
    drawn, found, summary = made(folder)
    assert (drawn.shape, drawn.dtype) == ((4, 300), torch.float32)
    assert found.all()
    assert summary == {
        "source": "random",
        "words": 4,
        "found": 4,
        "type_coverage": 1.0,
        "token_coverage": 1.0,
    }


def test_a_larger_vocabulary_keeps_the_vectors(folder: Path) -> None:
    project(folder, size=2)
    vectors.main()
    few = made(folder)[0]
    project(folder, size=4)
    vectors.main()
    assert few.shape == (2, 300)
    assert torch.equal(made(folder)[0][:2], few)


def test_same_bytes_each_time(folder: Path) -> None:
    project(folder)
    path = folder / "artefacts" / "vectors" / "vectors.pt"
    vectors.main()
    first = path.read_bytes()
    vectors.main()
    assert path.read_bytes() == first


def test_glove(folder: Path) -> None:
    glove_project(folder, "café 1 2\nrare 3 4\nother 5 6\nthe 7 8\n")
    vectors.main()
    picked, found, summary = made(folder)
    assert picked.tolist() == [[7, 8], [1, 2], [0, 0], [3, 4]]
    assert found.tolist() == [True, True, False, True]
    assert summary == {
        "source": "glove",
        "words": 4,
        "found": 3,
        "type_coverage": 0.75,
        "token_coverage": 0.91,
    }
    downloads = list((folder / "state" / "downloads").iterdir())
    assert [path.suffix for path in sorted(downloads)] == [".zip", ".lock"]


def test_vectors_are_scaled_by_one_factor(folder: Path) -> None:
    """Lengths 5, 10 and 15 have the mean 10; a word without a vector does not count."""
    glove_project(folder, "café 3 4\nrare -6 8\nthe 15 0\n", mean_norm=2)
    vectors.main()
    picked, _, _ = made(folder)
    assert torch.allclose(picked, torch.tensor([[3.0, 0], [0.6, 0.8], [0, 0], [-1.2, 1.6]]))


def test_bad_line_leaves_no_artefact(folder: Path) -> None:
    glove_project(folder, "the 7 8\ncafé 1\n")
    with pytest.raises(DataError, match=r"v\.txt in .*line 2: expected a word and 2 numbers"):
        vectors.main()
    assert not (folder / "artefacts" / "vectors").exists()


def test_vocabulary_is_missing(folder: Path) -> None:
    project(folder)
    (folder / "artefacts" / "vocabulary" / "words.tsv").unlink()
    with pytest.raises(ArtefactError, match="dvc repro vocabulary"):
        vectors.main()
