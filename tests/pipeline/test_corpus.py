"""Stage `corpus` on a small archive, on files, and on a few generated captions."""

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actmodels.errors import DataError
from pipeline import corpus
from pipeline.datasets.pair_files import SplitReader
from pipeline.datasets.pairs import read_pairs
from tests.pipeline.project import fetched, make_zip, read_output, transcribe, write_params, written

LABELS = ["neutral", "-", "entailment", "contradiction"]
COUNTS = {"train": 3, "dev": 3, "test": 3}


def line(number: int, premise: str = "A") -> str:
    row = {"gold_label": LABELS[number % 4], "pairID": f"{number}", "sentence1": premise, "x": 1}
    row |= {"sentence1_binary_parse": "A"} if number == 3 else {}
    row |= {"annotator_labels": ["neutral"] * number} if number else {}
    return json.dumps(row | {"sentence2": "B"}) + "\n"


def lines(split: str) -> str:
    return "".join(line(number, f"A {split}") for number in range(4))


def snli(broken: str = "", archive: Mapping[str, str] | None = None, **changes: Any) -> Any:
    """Return the params.yaml section of a small SNLI archive."""
    members = archive or {
        f"snli_1.0/snli_1.0_{split}.jsonl": lines(split) + broken * (split == "dev")
        for split in corpus.SPLITS
    }
    made = make_zip(Path("mirror.zip").resolve(), {k: v.encode() for k, v in members.items()})
    return {"source": "snli", "snli": fetched(made) | {"labeled_pairs": COUNTS} | changes}


def files(broken: str = "", **changes: Any) -> Any:
    """Return the params.yaml section of the same pairs as files."""
    for split in corpus.SPLITS:
        Path(f"{split}.jsonl").write_text(lines(split) + broken * (split == "dev"))
    places = {split: f"{split}.jsonl" for split in corpus.SPLITS}
    return {"source": "files", "files": places | changes}


def run_stage(folder: Path, section: dict[str, Any]) -> dict[str, bytes]:
    write_params(folder, corpus=section)
    corpus.main()
    return written(folder, "corpus")


def test_archives_files_and_captions(
    folder: Path, golden: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line of the golden file is a section `corpus`; a failed stage leaves no artifacts."""

    def stage(section: dict[str, Any], **changes: Any) -> list[str]:
        shutil.rmtree(folder / "artifacts", ignore_errors=True)
        try:
            made = run_stage(folder, section | changes)
        except DataError:
            assert list(folder.glob("artifacts/*")) == []
            raise
        output, bars = capsys.readouterr()
        notes = read_output(folder, "corpus")["notes"]
        assert output.splitlines() == notes and "\x1b[A" not in bars  # one bar at a time
        test = [pair.values() for pair in read_pairs(folder / "artifacts/corpus/test.jsonl")]
        pairs = [" | ".join(map(str, pair)) for pair in test[:4]]
        summary = read_output(folder, "corpus")
        if "archive" in summary["sha256"]:  # it depends on the version of zlib
            archive = hashlib.sha256(Path("mirror.zip").read_bytes()).hexdigest()
            assert summary.pop("sha256") == {"archive": archive}
        return [", ".join(made), *pairs, json.dumps(summary)]

    def other(kind: str) -> str | list[str]:
        """Return a place with the pairs of the training file in another form."""
        content, path = lines("train"), Path(f"other.{kind}")
        path.unlink(missing_ok=True)
        if kind == "gzip":
            path.write_bytes(gzip.compress(content.encode()))
        elif kind == "table":
            rows = [json.loads(row) for row in content.splitlines()]
            pq.write_table(pa.Table.from_pylist(rows[::-1]), path)
        else:
            path.symlink_to("train.jsonl")
        return ["test.jsonl", str(path)] if kind == "list" else str(path)

    Path("bad.jsonl").write_text(line(6).replace('"B"', "null") + "{")
    names = {"stage": stage, "snli": snli, "files": files, "line": line, "other": other}
    transcribe(golden, "corpus.txt", names | {"COUNTS": COUNTS}, f"{folder}/")
    run_stage(folder, snli())
    of_archive = written(folder, "corpus")
    of_files = run_stage(folder, files())
    assert of_archive.pop("summary.json") != of_files.pop("summary.json")
    assert of_archive == of_files


def test_a_file_that_changes_while_it_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced(reader: SplitReader, files: Any) -> Any:
        files[0][0].write_text(files[0][0].read_text() + line(8))
        return read(reader, files)

    read = SplitReader.read
    monkeypatch.setattr(SplitReader, "read", replaced)
    with pytest.raises(DataError, match=r"files\.train: .*train\.jsonl changed while it was read"):
        run_stage(folder, files())


def test_captions(folder: Path) -> None:
    run_stage(folder, {"captions": {"train": 30, "dev": 12, "test": 12, "unlabeled": 0.1}})
    summary = read_output(folder, "corpus")
    assert summary["source"] == "captions"
    assert [summary["splits"][split]["labeled"] for split in corpus.SPLITS] == [30, 12, 12]
    pairs = list(read_pairs(folder / "artifacts" / "corpus" / "train.jsonl"))
    assert len(pairs) == summary["splits"]["train"]["pairs"]
    assert all(pair["reasoning_depth"] > 0 for pair in pairs)
