"""A copy of the checkout in which tests run, and which of its tests executes which line.

A run of tests is a fork of this process, which has imported the libraries: that takes ten seconds.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
SUITE_LIMIT = 3600  # seconds of the fast suite, also when coverage measures it
TIME = "the time limit"
OPTIONS = ("-q", "-rfE", "--tb=no", "--timeout=60")  # seconds of a test, which a fault may stop
TOOLS = {"tests/checkout_copy.py", "tests/try_faults.py"}  # no test executes them
LIBRARIES = ("pytest", "torch", "pandas", "scipy.stats", "sklearn.linear_model", "pydantic")
LIBRARIES += ("mlflow.pyfunc", "ray.tune", "optuna", "altair", "nltk", "safetensors.torch")


def import_libraries() -> None:
    """Import what most tests import, after the settings of tests/conftest.py."""
    for name in ("tests.conftest", *LIBRARIES):
        import_module(name)


def copy_checkout(folder: Path) -> None:
    """Copy the tracked files to a repository of its own, as tests read git's index."""
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    (folder / ".venv").symlink_to(sys.prefix)
    identity = ("-c", "user.name=tests", "-c", "user.email=tests@localhost")
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "copy"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


def _run_pytest(folder: Path, arguments: tuple[str, ...], output: int) -> None:
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
    os.chdir(folder)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ["PATH"] = f"{folder}/.venv/bin:{os.environ['PATH']}"
    sys.path = [str(folder), *(path for path in sys.path if path not in ("", str(ROOT)))]
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    sys.exit(int(import_module("pytest").main([*OPTIONS, *arguments])))


def run_tests(folder: Path, *arguments: str, limit: float = SUITE_LIMIT) -> list[str]:
    """Run pytest in a copy; return the failed tests without their parameters.

    TIME stands for them after `limit` seconds.
    """
    with tempfile.TemporaryFile("w+") as output:
        of_run = (folder, arguments, output.fileno())
        process = get_context("fork").Process(target=_run_pytest, args=of_run)
        process.start()
        process.join(limit)
        status = process.exitcode
        with suppress(ProcessLookupError):  # also the processes of its tests
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        output.seek(0)
        text = output.read()
    if status == 4:
        sys.exit(f"pytest does not accept its arguments:\n{text}")
    failed = re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+)", text, re.MULTILINE)
    ended = TIME if status is None else f"pytest with status {status}"
    return [*dict.fromkeys(failed)] or [ended] * (status not in (0, 5))


def line_map(folder: Path) -> tuple[Any, Counter[str]]:
    """Return coverage's data of an unchanged copy, whose contexts are tests, and their seconds.

    They are measured again when code or tests have changed.
    """
    from coverage import CoverageData

    listed = subprocess.check_output(["git", "ls-files", "*.py"], cwd=folder, text=True)
    tested = {*listed.splitlines()} - TOOLS
    texts = ((folder / name).read_bytes() for name in sorted(tested))
    digest = hashlib.sha256(b"".join(texts)).hexdigest()[:16]
    stored = Path(tempfile.gettempdir(), f"line-map-{digest}.coverage")
    times = stored.with_suffix(".xml")
    if not stored.is_file():
        print("measure which test executes which line", flush=True)
        settings, part = folder.with_suffix(".rc"), f"{stored}.part"
        source = "actmodels, pipeline, reports, studies, tune"
        lines = ("[run]", f"source = {source}", "relative_files = true", f"data_file = {part}")
        settings.write_text("\n".join(lines))
        options = ("--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report=")
        if failed := run_tests(folder, *options, f"--junitxml={times}", "--timeout=600"):
            sys.exit(f"tests fail without a fault: {', '.join(failed)}")
        Path(part).rename(stored)
    data, seconds = CoverageData(str(stored)), Counter[str]()
    data.read()
    for case in ElementTree.parse(times).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}".partition("[")[0]
        seconds[name] += float(case.get("time", 0))
    return data, seconds
