"""The data stages run and measured at a small size."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from pipeline.benchmark.data_stages import STAGES, SizeCost, StageCost, measure, table

from actmodels.data.pairs import PairTensors
from actmodels.errors import DataError

ROOT = Path(__file__).parents[3]


def test_table() -> None:
    rows = [StageCost("corpus", 1.25, 1, 240.4), StageCost("tensors", 2, 0.5, 300)]
    assert table([SizeCost(10_000, rows, 0.0125)]).splitlines() == [
        "    pairs  stage          wall s    CPU s  peak MiB",
        "   10,000  corpus            1.2      1.0       240",
        "   10,000  tensors           2.0      0.5       300",
        "   10,000  together          3.2      1.5       300",
        "   10,000  opening         0.013",
    ]


@pytest.mark.slow
def test_measure(tmp_path: Path) -> None:
    (cost,) = measure([110], tmp_path, vectors=600)
    assert [row.stage for row in cost.stages] == list(STAGES)
    for row in cost.stages:
        assert row.cpu_seconds > 0.2 and 0.2 < row.wall_seconds < 120, row
        assert 20 < row.peak_mebibytes < 2048, row  # a Python that has loaded little takes 20
    assert 0 < cost.opening_seconds < 1
    assert json.loads(json.dumps(asdict(cost)))["pairs"] == 110
    made = tmp_path / "110_pairs" / "artefacts"
    assert len(PairTensors.load(made / "tensors" / "train.pt")) == 110
    assert len(PairTensors.load(made / "tensors" / "dev.pt")) == 2
    assert json.loads((made / "corpus" / "summary.json").read_text())["source"] == "snli"
    found = json.loads((made / "vectors" / "summary.json").read_text())
    assert found["source"] == "glove" and 0 < found["found"] < found["words"]


@pytest.mark.slow
def test_memory_is_that_of_the_stage_alone(tmp_path: Path) -> None:
    """The kernel's count for a new process begins with the size of the one that it came from."""
    ballast = b"x" * 2**30
    (cost,) = measure([30], tmp_path, ["corpus"], vectors=100)
    assert 20 < cost.stages[0].peak_mebibytes < 900
    assert len(ballast) == 2**30


@pytest.mark.slow
def test_a_failed_stage_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^stage tensors ended with 1; .*30_pairs/tensors\.log$"):
        measure([30], tmp_path, ["tensors"], vectors=100)
    said = (tmp_path / "30_pairs" / "tensors.log").read_text()
    assert said.startswith("error: ") and "dvc repro vocabulary" in said


@pytest.mark.slow
def test_command_line(tmp_path: Path) -> None:
    module = "pipeline.benchmark.data_stages"
    options = [
        "--pairs",
        "30",
        "--vectors",
        "100",
        "--folder",
        str(tmp_path),
        "--stages",
        "tensors",
    ]
    command = [sys.executable, "-m", module, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("error: stage tensors ended with 1")
    assert "Traceback" not in done.stderr
