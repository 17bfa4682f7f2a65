"""The command `predict` as a process: its imports, and closed streams."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.test_predict import PAIR, jsonl
from tests.pipeline.tiny_export import PAIRS, ROOT, write_export
from tests.samples import sample_trial

pytestmark = pytest.mark.slow


def command(folder: Path, *command: str) -> subprocess.Popen[str]:
    environment, pipe = {**os.environ, "PYTHONPATH": str(ROOT)}, subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def test_heavy_modules_are_not_imported(tmp_path: Path) -> None:
    write_export(tmp_path, sample_trial("adaptive_attention"))
    script = f"""
import sys
import threading
sys.argv = ["predict", *{PAIR!r}]
from pipeline.predict import main
assert "torch" not in sys.modules
main()
heavy = {{"mlflow", "ray", "dvc", "altair", "pydantic", "tune", "reports"}} & set(sys.modules)
heavy |= {{"actmodels.training", "nltk", "pandas", "scipy", "sklearn"}} & set(sys.modules)
assert not heavy, heavy
"""
    process = command(tmp_path, sys.executable, "-c", script)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "steps" in out or "1 step" in out


def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    write_export(tmp_path, sample_trial("adaptive_attention"))
    (tmp_path / "pairs.jsonl").write_text(jsonl(*(PAIRS * 1000)))
    arguments = (sys.executable, "-m", "pipeline.predict", "pairs.jsonl", "--format", "jsonl")
    process = command(tmp_path, *arguments)
    assert process.stdout is not None and process.stderr is not None
    assert json.loads(process.stdout.readline())["premise"] == PAIRS[0][0]
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        ("<&-", "standard input is closed; name a file of pairs"),
        (">&-", "standard output is closed; name a file: --output FILE"),
        (">/dev/full", "standard output cannot be written: No space left on device"),
    ],
)
def test_closed_streams(redirection: str, message: str, tmp_path: Path) -> None:
    write_export(tmp_path, sample_trial("adaptive_attention"))
    line = f"printf 'a\\tb\\n' | {{ {sys.executable} -m pipeline.predict - {redirection}; }}"
    process = command(tmp_path, "sh", "-c", line)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (1, f"error: {message}\n")
