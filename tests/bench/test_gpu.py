"""`make gpu-check`: every line of it on the CPU, and what it says of a device that is wrong."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from bench import gpu
from bench.gpu import CHECKS
from bench.work import Sizes

ROOT = Path(__file__).parents[2]
SMALL = Sizes(40, 30, 6, 4)
PAGE = "import sys, runpy; sys.modules.update(dict.fromkeys({})); sys.argv = ['gpu', *sys.argv[1:]]"
OTHERS = ("numpy", "ray", "mlflow", "dvc", "pandas", "pydantic", "ruamel", "tqdm", "filelock")


@pytest.mark.parametrize("what", CHECKS)
@pytest.mark.parametrize("wrong", [2.0, float("nan"), RuntimeError("CUDA error:\nno | luck")])
def test_a_wrong_result_names_the_setting_that_does_without(
    what: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(*given: Any) -> list[torch.Tensor]:
        if given[-1] == CHECKS[what].way:
            if isinstance(wrong, RuntimeError):
                raise wrong
            return [torch.ones(3), torch.tensor([1.0, 1.0, wrong])]
        return [torch.ones(3)] * 2

    monkeypatch.setattr(gpu, "trained", trained)
    rows = {row["check"]: row for row in gpu.checked_rows(SMALL, "cpu")}
    assert set(rows) == set(CHECKS)
    assert rows[what]["then_set"] == CHECKS[what].setting
    expected = "FAILED: CUDA error: no / luck" if isinstance(wrong, RuntimeError) else "FAILED"
    assert rows[what]["result"] == expected
    for name, check in CHECKS.items():
        if CHECKS[what].way not in (check.way, check.against):
            assert (rows[name]["result"], rows[name]["then_set"]) == ("ok", "")


def test_a_point_that_fails_is_a_row_with_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(_sizes: Any, _device: str, _size: int, trials: int, precision: str) -> Any:
        if (trials, precision) == (48, "high"):
            raise torch.OutOfMemoryError("CUDA out of memory")
        return {"hours": 10.0 / trials}

    monkeypatch.setattr(gpu, "measured", measured)
    rows = list(gpu.speeds(SMALL, "cpu"))
    asked = [(row["trials"], row["then_set"]) for row in rows if row["then_set"]]
    assert asked == [(48, "cluster.trials_per_fusion: 24")] * 3
    # the best of a third is that of fusions of 48
    assert gpu.hours_of_the_grid(rows) == pytest.approx(3 * 10 / 48)
    monkeypatch.setattr(gpu, "SECONDS", -1)
    left = list(gpu.speeds(SMALL, "cpu"))
    assert {(row["result"], row["then_set"]) for row in left} == {("left out, -1 s were over", "")}
    assert gpu.hours_of_the_grid(left) is None


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu"])
    with pytest.raises(SystemExit, match=r"^error: torch .* finds no CUDA device; run this where"):
        gpu.main()


@pytest.mark.slow(minutes=0.5)
def test_the_page_with_torch_alone(tmp_path: Path) -> None:
    code = f"{PAGE.format(OTHERS)}; runpy.run_module('bench.gpu', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code, "--device", "cpu"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "no figure counts" in done.stdout and "verdict: all is well" in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    speeds = len(gpu.PRECISIONS) * len(gpu.TRIALS)
    assert len(lines) == 4 + len(CHECKS) * len(gpu.CHECKED_MODELS) + speeds
    assert sum("| ok |" in line for line in lines) == len(lines) - 4
