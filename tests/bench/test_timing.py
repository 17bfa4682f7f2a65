"""Interleaved runs, formatting of cells, and quick runs of the benchmarks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.timing import DASH, format_cell, interleaved, summary

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
    servers = {"RAY_ADDRESS": "192.0.2.1:6379", "MLFLOW_TRACKING_URI": "http://192.0.2.1"}
    result = subprocess.run(
        [sys.executable, "-m", f"bench.{part}", "--quick"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | servers,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line.startswith("| ")]
    assert lines[0].startswith(header) and len(lines) == 2 + rows
    assert list(tmp_path.iterdir()) == []  # nothing is left behind
