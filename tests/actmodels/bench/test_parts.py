"""Every part runs in seconds and says what it should."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from actmodels.bench import gpu
from actmodels.bench.__main__ import arguments, measure
from actmodels.bench.packing import mean_steps
from actmodels.bench.parts import PARTS, run_part
from actmodels.bench.plan import FULL, QUICK

ROOT = Path(__file__).parents[3]
QUICKEST = replace(QUICK, repeats=1, pack_repeats=1)


def check_summaries(found: Any) -> int:
    """How many summaries there are, each with its median between its ends."""
    if isinstance(found, list):
        return sum(map(check_summaries, found))
    if not isinstance(found, dict):
        return 0
    if "median" in found:
        assert 0 < found["min"] <= found["median"] <= found["max"]
        assert found["n"] == QUICKEST.repeats
        return 1
    return sum(map(check_summaries, found.values()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["single", "flops", "packs", "inference"])
def test_a_part_measures_what_it_names(name: str) -> None:
    said: list[str] = []
    found = run_part(name, QUICKEST, QUICKEST.data(), said.append)
    assert said
    json.dumps(found, allow_nan=False)
    assert check_summaries(found) > 0
    rows = found["rows"]
    if name == "single":
        assert {(row["way"], row["processes"]) for row in rows} == {("plain", 1), ("ours", 1)}
        (facts,) = found["facts"]
        assert facts["mean_steps"] == pytest.approx(5.1, abs=0.7)
        assert facts["examples"] == 16
    elif name == "flops":
        shares = {row["way"]: row["useful_share"] for row in rows}
        assert 0 < shares["plain"] < shares["ours"] <= 1
    elif name == "packs":
        sizes = [None, *QUICKEST.packs]
        assert [(row["kind"], row["trials"]) for row in rows] == [
            (kind, size) for kind in ("like", "unlike") for size in sizes
        ]
    else:
        done = {row["way"]: row["step_evaluations"] for row in rows[:4]}
        assert done["to the cap"] == 20
        assert done["fixed 8"] == 8
        mean = rows[0]["steps_mean"]
        assert mean <= done["running"] <= done["until all have halted"] < 20


@pytest.mark.slow  # starts processes
def test_memory_is_that_of_a_process_of_its_own() -> None:
    ballast = torch.ones(64 * 2**20)  # 256 MiB here, which no child must count
    (plain, ours, *_) = PARTS["memory"](QUICKEST, QUICKEST.data(), lambda _: None)["rows"]
    assert ballast.sum() > 0
    assert (plain["way"], ours["way"]) == ("plain", "ours")
    for row in (plain, ours):
        # At this size a trial needs less than two starts of a process differ by.
        assert 20 < 0.9 * row["base_mebibytes"] < row["peak_mebibytes"] < 1000


def test_unlike_trials_have_the_same_mean_in_a_pack_of_any_size() -> None:
    for trials in (1, 2, 8, 48):
        means = mean_steps("unlike", trials)
        assert sum(means) / trials == pytest.approx(6)
        assert means == sorted(means, reverse=True)
        assert min(means) >= 2 and max(means) <= 10


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_its_part_is_empty_or_a_dry_run() -> None:
    data = QUICKEST.data()
    empty = gpu.measure(replace(QUICKEST, dry_run=False), data, lambda _: None)
    assert empty == {"note": gpu.SKIPPED, "rows": [], "grid_hours": []}
    dry = gpu.measure(replace(QUICKEST, dry_run=True), data, lambda _: None)
    assert dry["note"] == "no GPU: dry run on the CPU, no figure counts"
    assert {row["precision"] for row in dry["rows"]} == set(gpu.PRECISIONS)
    assert {row["graphs"] for row in dry["rows"]} == {False, True}
    assert dry["grid_hours"] == []


def test_projected_hours_by_hand() -> None:
    """A second for every update of every shape: 3 widths · 15 epochs · updates of an epoch."""
    rows = [
        {"width": width, "batch_size": size, "trials": trials, "seconds_per_update": 1.0}
        for width in (200, 256, 300)
        for size in (8, 16, 32)
        for trials in (1, 48)
    ]
    updates = 68_671 + 34_336 + 17_168  # 549,367 pairs in batches of 8, 16 and 32
    assert gpu.projected(rows, 48) == pytest.approx(3 * 15 * updates / 3600)
    assert gpu.projected(rows, 1) == pytest.approx(48 * 3 * 15 * updates / 3600)
    assert gpu.projected(rows[1:], 8) is None
    assert gpu.projected([row for row in rows if row["width"] != 300], 48) is None


def test_the_full_gpu_plan_covers_the_grids_shapes() -> None:
    full = [point for point in gpu.points(FULL) if point.trials == 48 and not point.graphs]
    assert len({(point.width, point.batch_size) for point in full}) == 9
    assert all(not point.graphs for point in gpu.points(FULL) if point.trials == 1)


def test_the_document_names_machine_and_plan() -> None:
    found = measure(arguments(["--quick", "--parts", "gpu"]))
    assert found["plan"] == "quick"
    assert found["machine"]["torch"] == torch.__version__
    assert list(found["parts"]) == ["gpu"]


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(["--parts", "everything"])
    assert "single" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_ends_it_without_a_file_or_processes(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    command = [sys.executable, "-m", "actmodels.bench", "--parts", "single", "--out", str(out)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "round" in line or "warm-up" in line:
                break
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert rest.endswith("interrupted; nothing was written\n")
    assert "Traceback" not in rest
    assert not out.exists()
