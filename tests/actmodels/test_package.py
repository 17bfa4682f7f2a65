"""The distribution: its checks and size, and the guide in an environment with torch alone."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import actmodels

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
IMPORTS = """
import time, torch
start = time.process_time()
from actmodels.halting import *
print(time.process_time() - start)
"""


def link_torch(folder: Path) -> None:
    """Link torch and its requirements into a folder of packages, and nothing else."""
    pending, seen = ["torch"], set[str]()
    while pending:
        name = pending.pop()
        try:
            found = distribution(name)
        except PackageNotFoundError:  # for another platform
            continue
        if name in seen or found.files is None:
            continue
        seen.add(name)
        for top in {path.parts[0] for path in found.files} - {"..", "__pycache__"}:
            target = folder / top
            if not target.exists():
                target.symlink_to(Path(str(found.locate_file(top))))
        required = [line for line in found.requires or [] if "extra ==" not in line]
        pending += [re.split(r"[^\w.-]", line)[0] for line in required]


@pytest.mark.slow(minutes=2)
def test_the_wheel_alone_runs_the_guide(tmp_path: Path) -> None:
    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    alone = {**os.environ, "OMP_NUM_THREADS": "1"}  # faster than two for such small matrices
    tool = (sys.executable, "-m")
    shutil.copytree(ROOT / "actmodels", tmp_path / "source" / "actmodels")
    (tmp_path / "source" / "docs").mkdir()
    for name in ("pyproject.toml", "LICENSE", "docs/library.md"):
        shutil.copy(ROOT / name, tmp_path / "source" / name)
    run(*tool, "build", "--no-isolation", "--outdir", tmp_path / "dist", tmp_path / "source")
    run(*tool, "twine", "check", "--strict", *(tmp_path / "dist").iterdir())
    (wheel,) = (tmp_path / "dist").glob(f"actmodels-{actmodels.__version__}-*.whl")
    assert wheel.stat().st_size <= 150_000
    run(*tool, "venv", "--without-pip", "env")
    python = tmp_path / "env" / "bin" / "python"
    (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    link_torch(packages)
    run(*tool, "pip", "--python", python, "install", "--quiet", "--no-index", wheel)
    (tmp_path / "guide.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", GUIDE, re.S)))
    printed = run(python, "-I", "guide.py")
    tokens = re.findall(r"(\d) tokens away: (\d+)% right, (\d\.\d) steps", printed)
    assert [far for far, _, _ in tokens] == ["0", "1", "2", "3"], printed
    assert all(int(right) >= 95 for _, right, _ in tokens)
    steps = [float(taken) for _, _, taken in tokens]
    assert steps == sorted(steps) and steps[3] >= steps[0] + 1
    assert min(float(run(python, "-I", "-c", IMPORTS)) for _ in range(3)) <= 0.05
    found = run(python, "-I", "-c", "import actmodels.halting; print(actmodels.__file__)")
    assert Path(found.strip()).is_relative_to(tmp_path)
