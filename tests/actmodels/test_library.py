"""docs/library.md: halting around any step function."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import actmodels.halting
from actmodels.registry import HALTINGS, load_class

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")


def test_the_example_learns() -> None:
    example = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    (shown,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert {line.strip() for line in example.splitlines()} >= {*shown.splitlines()}
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}  # faster than two for such small matrices
    command = [sys.executable, "-c", example]
    done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=True)
    result = re.fullmatch(r"(\d+)% right, (\d+\.\d) steps\n", done.stdout)
    assert result, done.stdout
    assert int(result[1]) >= 99
    assert 1.5 < float(result[2]) < 8


@pytest.mark.parametrize("name", HALTINGS)
def test_each_mechanism_is_documented(name: str) -> None:
    mechanism = HALTINGS[name]
    classes = (load_class(mechanism.halting).__name__, mechanism.settings.__name__)
    for one in classes:
        assert f"`{one}`" in PAGE and hasattr(actmodels.halting, one)


def test_the_command_of_the_page_prints_each_setting_of_each_mechanism() -> None:
    assert "`python -m actmodels.halting`" in PAGE
    command = [sys.executable, "-m", "actmodels.halting"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()]
    assert {len(row) for row in rows} == {5}
    printed = {(name, row[0], row[1]) for row in rows for name in row[4].split(", ")}
    for mechanism in HALTINGS.values():
        name = mechanism.settings.__name__.removesuffix("Config")
        for one in fields(mechanism.settings):
            assert (name, f"`{one.name}`", f"{one.default:g}") in printed


@pytest.mark.slow(minutes=1)
def test_the_notebook_learns_the_number_of_hops() -> None:
    notebook = json.loads((ROOT / "docs/notebooks/act_in_your_rnn.ipynb").read_text("utf-8"))
    code = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    command = [sys.executable, "-c", "\n".join(code)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = re.findall(r"(\d) hops: accuracy +(\d+)%, (\d\.\d) steps", done.stdout)
    rows = [(int(hops), int(accuracy), float(steps)) for hops, accuracy, steps in found]
    act, fixed, _, dact, confident = (rows[start : start + 7] for start in range(0, 35, 7))
    for hops, accuracy, steps in (*act[1:5], *dact[:5], *confident[:5]):
        assert accuracy >= 95 and abs(steps - hops) <= 0.5, (hops, accuracy, steps)
    assert [accuracy > 90 for _, accuracy, _ in fixed] == [hops == 4 for hops, *_ in fixed]
