"""Stage `corpus` on a small archive, on files, and on a few generated captions."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actmodels.errors import DataError
from pipeline import corpus
from pipeline.datasets.pair_files import SplitReader
from pipeline.datasets.pairs import read_pairs
from tests.pipeline.project import fetched, make_zip, read_output, write_params, written

LABELS = ["neutral", "-", "entailment", "contradiction"]
Source = Callable[..., dict[str, Any]]
COUNTS = {"train": 3, "dev": 3, "test": 3}


def line(number: int, premise: str = "A") -> str:
    row = {"gold_label": LABELS[number % 4], "pairID": f"{number}", "sentence1": premise, "x": 1}
    row |= {"sentence1_binary_parse": "A"} if number == 3 else {}
    row |= {"annotator_labels": ["neutral"] * number} if number else {}
    return json.dumps(row | {"sentence2": "B"}) + "\n"


def lines(split: str) -> str:
    return "".join(line(number, f"A {split}") for number in range(4))


def snli(folder: Path, *, broken: str = "", **changes: Any) -> dict[str, Any]:
    """Return the params.yaml section of a small SNLI archive."""
    members = {f"snli_1.0/snli_1.0_{split}.jsonl": lines(split).encode() for split in corpus.SPLITS}
    members["snli_1.0/snli_1.0_dev.jsonl"] += broken.encode()
    archive = fetched(make_zip(folder / "mirror.zip", members))
    return {"source": "snli", "snli": archive | {"labeled_pairs": COUNTS} | changes}


def files(folder: Path, *, broken: str = "", **changes: Any) -> dict[str, Any]:
    """Return the params.yaml section of the same pairs as files."""
    for split in corpus.SPLITS:
        (folder / f"{split}.jsonl").write_text(lines(split) + broken * (split == "dev"))
    places = {split: f"{split}.jsonl" for split in corpus.SPLITS}
    return {"source": "files", "files": places | changes}


def run_stage(folder: Path, section: dict[str, Any]) -> dict[str, bytes]:
    write_params(folder, corpus=section)
    corpus.main()
    return written(folder, "corpus")


BOTH = pytest.mark.parametrize("source", [snli, files])


@BOTH
@pytest.mark.parametrize("parses", [False, True])
def test_pairs_with_labels_of_annotators_and_parses_if_configured(
    folder: Path, source: Source, parses: bool
) -> None:
    """Some lines of SNLI have no parse."""
    made = run_stage(folder, source(folder) | {"parses": parses})
    assert list(made) == ["dev.jsonl", "summary.json", "test.jsonl", "train.jsonl"]
    pairs = list(read_pairs(folder / "artifacts" / "corpus" / "test.jsonl"))
    assert [pair["gold_label"] for pair in pairs] == LABELS
    assert [len(pair.get("annotator_labels", [])) for pair in pairs] == [0, 0, 2, 3]
    found = [pair.get("sentence1_binary_parse") for pair in pairs]
    assert found == (["", "", "", "A"] if parses else [None] * 4)


def test_files_give_the_pairs_of_the_archive(folder: Path) -> None:
    def digest(name: str) -> str:
        return hashlib.sha256((folder / name).read_bytes()).hexdigest()

    before = run_stage(folder, snli(folder))
    assert read_output(folder, "corpus")["sha256"] == {"archive": digest("mirror.zip")}
    after = run_stage(folder, files(folder))
    assert before.pop("summary.json") != after.pop("summary.json") and after == before
    digests = {split: digest(f"{split}.jsonl") for split in corpus.SPLITS}
    assert read_output(folder, "corpus")["sha256"] == digests
    with pytest.raises(DataError, match=r"^corpus\.files\.dev: .*dev\.jsonl: .* SHA-256 .*, expec"):
        run_stage(folder, files(folder, sha256={"dev": "0" * 64}))


@pytest.mark.parametrize("kind", ["link", "list", "gzip", "table"])
def test_a_split_with_the_pairs_of_another_is_an_error(folder: Path, kind: str) -> None:
    section, train = files(folder), folder / "train.jsonl"
    test: Any = folder / f"other.{kind}"
    if kind == "gzip":
        test.write_bytes(gzip.compress(train.read_bytes()))
    elif kind == "table":
        rows = [json.loads(row) for row in train.read_text().splitlines()]
        pq.write_table(pa.Table.from_pylist(rows[::-1]), test)
    else:
        test.symlink_to(train)
    section["files"]["test"] = ["test.jsonl", str(test)] if kind == "list" else str(test)
    same = rf"^corpus\.files\.test: .*other.{kind} is also in corpus\.files\.train; name each file"
    if kind in ("gzip", "table"):
        same = "^test has the pairs of train"
    with pytest.raises(DataError, match=same):
        run_stage(folder, section)
    assert list((folder / "artifacts").glob("*")) == []


def test_a_file_that_changes_while_it_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced(reader: SplitReader, files: Any) -> Any:
        files[0][0].write_text(files[0][0].read_text() + line(8))
        return read(reader, files)

    read = SplitReader.read
    monkeypatch.setattr(SplitReader, "read", replaced)
    with pytest.raises(DataError, match=r"files\.train: .*train\.jsonl changed while it was read"):
        run_stage(folder, files(folder))


@BOTH
@pytest.mark.parametrize(
    ("broken", "problem"), [("{", "not JSON"), (line(2), "the id '2' was used before, at 3; exp")]
)
def test_malformed_line_leaves_no_artifacts(
    folder: Path, source: Source, broken: str, problem: str
) -> None:
    with pytest.raises(DataError, match=rf"dev\.jsonl, line 5: {problem}"):
        run_stage(folder, source(folder, broken=broken))
    assert list((folder / "artifacts").iterdir()) == []


def test_another_count_is_an_error_until_switched_off_unless_it_is_none(folder: Path) -> None:
    with pytest.raises(DataError, match=r"_test\.jsonl in .*zip has 3 labeled pairs, expected 4; "):
        run_stage(folder, snli(folder, labeled_pairs=COUNTS | {"test": 4}))
    run_stage(folder, snli(folder, labeled_pairs=None))
    lines = {"snli_1.0/snli_1.0_train.jsonl": line(1).encode()}
    archive = fetched(make_zip(folder / "mirror.zip", lines)) | {"labeled_pairs": None}
    with pytest.raises(DataError, match=r"train\.jsonl in .*mirror\.zip has no labeled pair"):
        run_stage(folder, {"source": "snli", "snli": archive})
    advice = "it has snli_1.0/snli_1.0_train.jsonl; name one: act-nli use corpus.source=files co"
    with pytest.raises(DataError, match=f"has no multinli_1.0/snli_1.0_train.jsonl; {advice}"):
        run_stage(folder, {"source": "snli", "snli": archive | {"folder": "multinli_1.0"}})


def test_files_print_labels_and_dropped_rows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    section = files(folder, invalid="drop", dev=["dev.jsonl", "bad*"])
    text = (folder / "dev.jsonl").read_text().replace('"neutral"', "1")
    (folder / "dev.jsonl").write_text(text)
    (folder / "bad.jsonl").write_text(line(6).replace('"B"', "null") + "{")
    run_stage(folder, section)
    output, bars = capsys.readouterr()
    assert output.splitlines() == read_output(folder, "corpus")["notes"]
    assert "\x1b[A" not in bars  # one bar at a time
    assert output.splitlines()[3:6] == [
        *(f"dev: 1 rows dropped: {why}" for why in ("sentence2 has no words", "not JSON")),
        "label 1 is neutral, as in dev: 'A dev' / 'B'",
    ]


def test_captions(folder: Path) -> None:
    run_stage(folder, {"captions": {"train": 30, "dev": 12, "test": 12, "unlabeled": 0.1}})
    summary = read_output(folder, "corpus")
    assert summary["source"] == "captions"
    assert [summary["splits"][split]["labeled"] for split in corpus.SPLITS] == [30, 12, 12]
    pairs = list(read_pairs(folder / "artifacts" / "corpus" / "train.jsonl"))
    assert len(pairs) == summary["splits"]["train"]["pairs"]
    assert all(pair["reasoning_depth"] > 0 for pair in pairs)
