"""The distributions: checks, size, links, and guide and tests with torch and pytest alone."""

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
ADDRESS = "https://host.example/owner/name"
SOURCES = ("pyproject.toml", "MANIFEST.in", "LICENSE", "README.md", "actmodels", "docs", "tests")
PACKAGES = "env/lib/python*/site-packages"
LAZY = """
import sys, actmodels
print("halting" in dir(actmodels), actmodels.halting.ActConfig.__name__, "torch" in sys.modules)
"""
IMPORTS = """
import time
start = time.process_time()
import torch
middle = time.process_time()
from actmodels.halting import *
print((time.process_time() - middle) / (middle - start))
"""


def test_halting_is_imported_on_first_use_and_torch_later() -> None:
    printed = subprocess.check_output([sys.executable, "-c", LAZY], cwd=ROOT, text=True)
    assert printed == "True ActConfig False\n"
    with pytest.raises(AttributeError, match="has no attribute 'halted'"):
        _ = actmodels.halted


def link_packages(folder: Path, *names: str) -> None:
    """Link packages and their requirements into a folder of packages, and nothing else."""
    pending, seen = list(names), set[str]()
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


def run(*command: str | Path, cwd: Path) -> str:
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}  # faster than two for such small matrices
    done = subprocess.run(command, cwd=cwd, env=alone, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the distributions of a release, dist/, and the wheel and torch in env/."""
    folder = tmp_path_factory.mktemp("release")
    tool, source, dist = (sys.executable, "-m"), folder / "source", folder / "dist"
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    run(sys.executable, ROOT / ".ci" / "package_urls.py", ADDRESS, "v1", cwd=source)
    run(*tool, "build", "--no-isolation", "--outdir", dist, source, cwd=folder)
    run(*tool, "twine", "check", "--strict", *dist.iterdir(), cwd=folder)
    (wheel,) = dist.glob(f"actmodels-{actmodels.__version__}-*.whl")
    assert wheel.stat().st_size <= 150_000
    run(*tool, "venv", "--without-pip", "env", cwd=folder)
    python = folder / "env" / "bin" / "python"
    link_packages(next(folder.glob(PACKAGES)), "torch")
    run(*tool, "pip", "--python", python, "install", "--quiet", "--no-index", wheel, cwd=folder)
    return folder


@pytest.mark.slow(minutes=1)
def test_the_package_page_has_absolute_links(folder: Path) -> None:
    (metadata,) = folder.glob(f"{PACKAGES}/actmodels-*.dist-info/METADATA")
    page = metadata.read_text(encoding="utf-8")
    assert f"\nProject-URL: Source, {ADDRESS}\n" in page
    links = re.findall(r"\]\((.*?)\)", page)
    assert f"{ADDRESS}/blob/v1/docs/extending.md#a-halting-mechanism" in links
    assert all(link.startswith("https://") for link in links)


@pytest.mark.slow(minutes=1)
def test_the_wheel_alone_runs_the_guide(folder: Path) -> None:
    python = folder / "env" / "bin" / "python"
    (folder / "guide.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", GUIDE, re.S)))
    printed = run(python, "-I", "guide.py", cwd=folder)
    tokens = re.findall(r"(\d) tokens away: (\d+)% right, (\d\.\d) steps", printed)
    assert [far for far, _, _ in tokens] == ["0", "1", "2", "3"], printed
    assert all(int(right) >= 95 for _, right, _ in tokens)
    steps = [float(taken) for _, _, taken in tokens]
    assert steps == sorted(steps) and steps[3] >= steps[0] + 1
    shares = [float(run(python, "-I", "-c", IMPORTS, cwd=folder)) for _ in range(3)]
    assert min(shares) <= 0.1, shares  # of the CPU time of importing torch
    place = "import actmodels.halting; print(actmodels.__file__)"
    assert Path(run(python, "-I", "-c", place, cwd=folder).strip()).is_relative_to(folder)


@pytest.mark.slow(minutes=2)
def test_the_tests_of_the_source_distribution_need_torch_and_pytest(folder: Path) -> None:
    (sdist,) = folder.glob("dist/*.tar.gz")
    shutil.unpack_archive(sdist, folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    shutil.rmtree(unpacked / "actmodels")  # the tests import the wheel
    link_packages(next(folder.glob(PACKAGES)), "pytest")
    test = (folder / "env" / "bin" / "python", "-m", "pytest", "--quiet")
    run(*test, "--collect-only", "-m", "slow or not slow", cwd=unpacked)
    # of the others, those of the parts that a network of your own uses
    run(*test, "-k", "(own_networks or halting or layers) and not example_learns", cwd=unpacked)
