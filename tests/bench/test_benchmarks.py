"""Interleaved runs, formatted cells, ranges of results, quick runs, and make gpu-check."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from bench import gpu
from bench.gpu import CHECKS
from bench.gpu_session import PARTS
from bench.ranges import measured, prediction_interval, table_rows
from bench.timing import DASH, format_cell, interleaved, summary
from bench.work import Sizes

ROOT = Path(__file__).parents[2]


def test_variants_alternate_and_the_warm_up_is_discarded() -> None:
    order: list[str] = []

    def variant(name: str) -> int:
        order.append(name)
        return len(order)

    names = ("a", "b", "c")
    runs = interleaved({name: lambda name=name: variant(name) for name in names}, repeats=2)
    assert order == ["a", "b", "c"] * 3
    assert runs == {"a": [4, 7], "b": [5, 8], "c": [6, 9]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *[(0.01234, "0.0123"), (0.5, "0.5"), (1.384, "1.38"), (12.34, "12.3"), (1234.6, "1,235")],
        *[(486, "486"), (None, DASH), (0.0, "0"), ("plain", "plain")],
        (summary([180.04, 247.9, 193.26]), f"193 (180{DASH}248, n = 3)"),
    ],
)
def test_a_cell_has_three_digits_and_its_range(value: object, expected: str) -> None:
    assert format_cell(value) == expected


def printed(folder: Path, *arguments: str) -> tuple[str, list[str]]:
    """Run Python in a folder; return the output and the lines of its tables."""
    servers = {"RAY_ADDRESS": "192.0.2.1:6379", "MLFLOW_TRACKING_URI": "http://192.0.2.1"}
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | servers
    command, options = [sys.executable, *arguments], {"capture_output": True, "text": True}
    result = subprocess.run(command, cwd=folder, env=environment, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout, [line for line in result.stdout.splitlines() if line.startswith("| ")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "header", "rows"),
    [
        ("training", "| model | batch size | times as fast | plain examples per second |", 6),
        ("loop", "| measurement | result |", 8),
        ("sweep", "| trials | seconds | times of joblib in all | until steady |", 1),
    ],
)
def test_a_quick_run_prints_its_table(tmp_path: Path, part: str, header: str, rows: int) -> None:
    _, lines = printed(tmp_path, "-m", f"bench.{part}", "--quick")
    assert lines[0].startswith(header) and len(lines) == 2 + rows
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_a_range_is_a_prediction_interval_of_a_mean() -> None:
    """Sd 1, t(8) = 3.355 at 99 %: 3.355 · sqrt(1/9 + 1/3) = 2.24; a constant result has 0.5 %."""
    values = [80.0, 79.0, 81.0] * 3
    sd = (6 / 8) ** 0.5
    assert prediction_interval(values, 3, 1) == pytest.approx(
        (round(80 - 2.2369 * sd, 1), round(80 + 2.2369 * sd, 1))
    )
    assert prediction_interval([100.0] * 9, 3, 1, 100.0) == (99.5, 100.0)
    assert prediction_interval([0.2] * 9, 3, 2) == (0.19, 0.21)


def test_seeds_and_processors_have_each_their_spread() -> None:
    """Seeds differ by 2 and 4, processors by 1."""
    lines = {"native": (90.0, 92.0, 94.0), "avx2": (91.0, 93.0, 95.0)}
    runs = {
        name: [{"models": [f"m: {value} % (n = 1)"]} for value in values]
        for name, values in lines.items()
    }
    part = measured(runs, "models", 3)
    assert part["m: # % (n)"]["values"] == {name: [values] for name, values in lines.items()}
    (row,) = table_rows({"models": {"lines": part}})
    assert (row["sd over seeds"], row["sd over processors"]) == ("2.00", "0.71")
    assert row["mean and sd of all runs"] == "92.50 ± 1.87"


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


@pytest.mark.slow(minutes=3)
def test_every_part_of_a_gpu_session_on_a_cpu(tmp_path: Path) -> None:
    options = ("--device", "cpu", "--out", str(tmp_path / "out"))
    parts = [name for name in PARTS if name != "checks"]  # the page below runs those
    output, _ = printed(tmp_path, "-m", "bench.gpu_session", *options, *parts)
    for name in parts:
        assert f"## {name}: ok" in output
        assert (tmp_path / "out" / f"{name}.jsonl").read_text()
    rows = [json.loads(line) for line in (tmp_path / "out/ray.jsonl").read_text().splitlines()]
    assert [row["equal_to_the_bit"] for row in rows] == [True] * 3
    assert rows[-1]["workers_killed"] == 1


@pytest.mark.slow(minutes=0.5)
def test_the_page_with_torch_alone(tmp_path: Path) -> None:
    code = f"{PAGE.format(OTHERS)}; runpy.run_module('bench.gpu', run_name='__main__')"
    output, lines = printed(tmp_path, "-c", code, "--device", "cpu")
    assert "the numbers mean nothing" in output and "verdict: all is well" in output
    assert len(lines) == 4 + len(CHECKS) * len(gpu.CHECKED_MODELS) + len(gpu.DRY_WAYS)
    assert sum("| ok |" in line for line in lines) == len(lines) - 4
