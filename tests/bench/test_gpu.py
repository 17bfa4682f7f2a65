"""`make gpu-check`: a dry run on the CPU, and the report of a faulty device."""

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


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("wrong", [2.0, float("nan"), RuntimeError("CUDA error:\nno | luck")])
def test_a_wrong_result_names_the_setting_that_avoids_it(
    name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def updates_of(*arguments: Any) -> list[torch.Tensor]:
        if arguments[-1] == CHECKS[name].run:
            if isinstance(wrong, RuntimeError):
                raise wrong
            return [torch.ones(3), torch.tensor([1.0, 1.0, wrong])]
        return [torch.ones(3)] * 2

    monkeypatch.setattr(gpu, "updates_of", updates_of)
    rows = {row["check"]: row for row in gpu.check_rows(SMALL, "cpu")}
    assert set(rows) == set(CHECKS)
    assert rows[name]["then_set"] == CHECKS[name].setting
    expected = "FAILED: CUDA error: no / luck" if isinstance(wrong, RuntimeError) else "FAILED"
    assert rows[name]["result"] == expected
    for other, check in CHECKS.items():
        if CHECKS[name].run not in (check.run, check.reference):
            assert (rows[other]["result"], rows[other]["then_set"]) == ("ok", "")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu"])
    with pytest.raises(SystemExit, match=r"^error: torch .* finds no CUDA device; run this where"):
        gpu.main()


@pytest.mark.slow(minutes=0.5)
def test_the_page_with_torch_alone(tmp_path: Path) -> None:
    code = f"{PAGE.format(OTHERS)}; runpy.run_module('bench.gpu', run_name='__main__')"
    result = subprocess.run(
        [sys.executable, "-c", code, "--device", "cpu"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "the numbers mean nothing" in result.stdout and "verdict: all is well" in result.stdout
    lines = [line for line in result.stdout.splitlines() if line.startswith("| ")]
    speeds = len(gpu.DRY_WAYS)
    assert len(lines) == 4 + len(CHECKS) * len(gpu.CHECKED_MODELS) + speeds
    assert sum("| ok |" in line for line in lines) == len(lines) - 4
