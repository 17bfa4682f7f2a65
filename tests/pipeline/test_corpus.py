"""Stage `corpus` on a small archive and on a few generated captions."""

import json
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline import corpus
from pipeline.datasets.snli import read_pairs
from tests.pipeline.datasets.zips import make_zip
from tests.pipeline.project import fetched, read_output, write_params, written

LABELS = ["neutral", "-", "entailment", "contradiction"]
COUNTS = {"train": 3, "dev": 3, "test": 3}


def line(number: int) -> str:
    row = {"gold_label": LABELS[number % 4], "pairID": f"{number}", "sentence1": "A", "x": 1}
    row |= {"sentence1_binary_parse": "A"} if number == 3 else {}
    return json.dumps(row | {"sentence2": "B"}) + "\n"


def snli(folder: Path, *, broken: str = "", **changes: Any) -> dict[str, Any]:
    """Return the params.yaml section of a small SNLI archive."""
    members = {
        f"snli_1.0/snli_1.0_{split}.jsonl": "".join(map(line, range(4))).encode()
        for split in corpus.SPLITS
    }
    members["snli_1.0/snli_1.0_dev.jsonl"] += broken.encode()
    archive = fetched(make_zip(folder / "mirror.zip", members))
    return {"source": "snli", "snli": archive | {"labeled_pairs": COUNTS} | changes}


def run_stage(folder: Path, section: dict[str, Any]) -> dict[str, bytes]:
    """Run the stage with a section."""
    write_params(folder, corpus=section)
    corpus.main()
    return written(folder, "corpus")


@pytest.mark.parametrize(("parses", "kept"), [(False, None), (True, "")])
def test_parses_are_kept_if_configured(folder: Path, parses: bool, kept: str | None) -> None:
    """Some lines of SNLI have no parse."""
    run_stage(folder, snli(folder) | {"parses": parses})
    pairs = list(read_pairs(folder / "artifacts" / "corpus" / "test.jsonl"))
    result = [pair.get("sentence1_binary_parse") for pair in pairs]
    assert result == [kept] * 3 + ["A" if parses else None]


def test_snli(folder: Path) -> None:
    before = run_stage(folder, snli(folder))
    assert list(before) == ["dev.jsonl", "summary.json", "test.jsonl", "train.jsonl"]
    pairs = read_pairs(folder / "artifacts" / "corpus" / "test.jsonl")
    assert [pair["gold_label"] for pair in pairs] == LABELS
    summary = read_output(folder, "corpus")
    assert summary["source"] == "snli"
    assert [split["labeled"] for split in summary["splits"].values()] == [3, 3, 3]
    (folder / "mirror.zip").unlink()
    corpus.main()  # from state/downloads
    assert written(folder, "corpus") == before


@pytest.mark.parametrize(
    ("broken", "problem"),
    [("{", "not a JSON"), (line(2), "pairID is '2', as in line 3; expected a unique id")],
)
def test_malformed_line_leaves_no_artifacts(folder: Path, broken: str, problem: str) -> None:
    with pytest.raises(DataError, match=rf"^snli_1\.0/snli_1\.0_dev\.jsonl, line 5: {problem}"):
        run_stage(folder, snli(folder, broken=broken))
    assert list((folder / "artifacts").iterdir()) == []


def test_another_count_is_an_error_until_switched_off_unless_it_is_none(folder: Path) -> None:
    message = (
        r"snli_1\.0_test\.jsonl in .*mirror\.zip has 3 labeled pairs, expected 9824; correct "
        r"corpus\.snli\.labeled_pairs\.test, or set corpus\.snli\.labeled_pairs to null"
    )
    with pytest.raises(DataError, match=message):
        run_stage(folder, snli(folder, labeled_pairs=COUNTS | {"test": 9824}))
    run_stage(folder, snli(folder, labeled_pairs=None))
    lines = {"snli_1.0/snli_1.0_train.jsonl": line(1).encode()}
    archive = fetched(make_zip(folder / "mirror.zip", lines))
    with pytest.raises(DataError, match=r"train\.jsonl in .*mirror\.zip has no labeled pair"):
        run_stage(folder, {"source": "snli", "snli": archive | {"labeled_pairs": None}})


def test_captions(folder: Path) -> None:
    captions = {"train": 30, "dev": 12, "test": 12, "unlabeled": 0.1}
    run_stage(folder, {"captions": captions})
    summary = read_output(folder, "corpus")
    assert summary["source"] == "captions"
    assert [summary["splits"][split]["labeled"] for split in corpus.SPLITS] == [30, 12, 12]
    pairs = list(read_pairs(folder / "artifacts" / "corpus" / "train.jsonl"))
    assert len(pairs) == summary["splits"]["train"]["pairs"]
    assert all(pair["reasoning_depth"] > 0 for pair in pairs)
