"""The corpus stage run on a small archive and on a few generated captions."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from actmodels.errors import DataError
from pipeline import corpus
from pipeline.sources.jsonl import read_pairs
from tests.pipeline.sources.zips import make_zip

ROOT = Path(__file__).parents[2]
LABELS = ["neutral", "-", "entailment", "contradiction"]
COUNTS = {"train": 3, "dev": 3, "test": 3}


def line(number: int) -> str:
    row = {"gold_label": LABELS[number % 4], "pairID": f"{number}", "sentence1": "A", "x": 1}
    return json.dumps(row | {"sentence2": "B"}) + "\n"


def project(folder: Path, **changes: Any) -> None:
    """A project folder with the real parameters and these changes to the corpus section."""
    params = YAML(typ="safe").load(ROOT / "params.yaml")
    for key, value in changes.items():
        params["corpus"][key] = params["corpus"][key] | value if isinstance(value, dict) else value
    YAML().dump(params, folder / "params.yaml")


def snli_project(folder: Path, *, broken: str = "", **changes: Any) -> None:
    members = {
        f"snli_1.0/snli_1.0_{split}.jsonl": "".join(map(line, range(4))).encode()
        for split in corpus.SPLITS
    }
    members["snli_1.0/snli_1.0_dev.jsonl"] += broken.encode()
    archive = make_zip(folder / "mirror.zip", members)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    source = {"urls": [archive.as_uri()], "sha256": digest, "labelled_pairs": COUNTS}
    project(folder, source="snli", snli=source | changes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_snli(folder: Path) -> None:
    snli_project(folder)
    corpus.main()
    made = folder / "artefacts" / "corpus"
    names = sorted(path.name for path in made.iterdir())
    assert names == ["dev.jsonl", "summary.json", "test.jsonl", "train.jsonl"]
    assert [pair.label for pair in read_pairs(made / "test.jsonl")] == LABELS
    summary = json.loads((made / "summary.json").read_text())
    assert summary["source"] == "snli"
    summary = summary["splits"]
    assert [summary[split]["labelled"] for split in summary] == [3, 3, 3]
    (folder / "mirror.zip").unlink()
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    corpus.main()  # from state/downloads
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_malformed_line_leaves_no_artefacts(folder: Path) -> None:
    snli_project(folder, broken="{")
    with pytest.raises(DataError, match=r"snli_1\.0_dev\.jsonl, line 5"):
        corpus.main()
    assert list((folder / "artefacts").iterdir()) == []


def test_another_count_is_an_error_until_switched_off(folder: Path) -> None:
    snli_project(folder, labelled_pairs=COUNTS | {"test": 9824})
    with pytest.raises(DataError, match="the test split has 3 labelled pairs, expected 9824"):
        corpus.main()
    snli_project(folder, labelled_pairs=None)
    corpus.main()


def test_wrong_digest_keeps_the_earlier_corpus(folder: Path) -> None:
    snli_project(folder)
    corpus.main()
    snli_project(folder, sha256="0" * 64)
    with pytest.raises(DataError, match=r"expected 0{64} \(corpus\.snli\.sha256\)"):
        corpus.main()
    assert (folder / "artefacts" / "corpus" / "summary.json").is_file()


def test_captions(folder: Path) -> None:
    project(folder, captions={"train": 30, "dev": 12, "test": 12, "unlabelled": 0.1})
    corpus.main()
    summary = json.loads((folder / "artefacts" / "corpus" / "summary.json").read_text())
    assert summary["source"] == "captions"
    summary = summary["splits"]
    assert [summary[split]["labelled"] for split in corpus.SPLITS] == [30, 12, 12]
    pairs = list(read_pairs(folder / "artefacts" / "corpus" / "train.jsonl"))
    assert len(pairs) == summary["train"]["pairs"]
    assert all(pair.depth > 0 for pair in pairs)


@pytest.mark.slow
def test_command_line(folder: Path) -> None:
    """As DVC runs it: one line for the user, no traceback."""
    snli_project(folder, urls=[(folder / "absent.zip").as_uri()])
    command = [sys.executable, "-m", "pipeline.corpus"]
    env = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: corpus.snli: file://")
    assert "No such file" in done.stderr and "Traceback" not in done.stderr
