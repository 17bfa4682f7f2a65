"""A copy of the checkout in which tests run, and which of its tests executes which line."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUITE_LIMIT = 3600  # seconds of the fast suite, also when coverage measures it
TIME = "the time limit"


def copy_checkout(folder: Path) -> None:
    """Copy the tracked files to a repository of its own, as tests read git's index."""
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    (folder / ".venv").symlink_to(sys.prefix)
    identity = ("-c", "user.name=tests", "-c", "user.email=tests@localhost")
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "copy"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


def run_tests(folder: Path, *arguments: str, limit: float = SUITE_LIMIT) -> list[str]:
    """Run pytest in a copy; return the failed tests without their parameters.

    TIME stands for them after `limit` seconds.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", *arguments]
    environment = os.environ | {"PATH": f"{folder}/.venv/bin:{os.environ['PATH']}"}
    both: Any = {"cwd": folder, "env": environment, "start_new_session": True}
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, **both)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            return [TIME]
        finally:  # also the processes of its tests
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read()
    if status == 4:
        sys.exit(f"pytest does not accept its arguments:\n{text}")
    failed = re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+)", text, re.MULTILINE)
    return [*dict.fromkeys(failed)] or [f"pytest with status {status}"] * (status not in (0, 5))


def line_map(folder: Path) -> Any:
    """Return coverage's data of an unchanged copy, whose contexts are tests.

    It is measured again when code or tests have changed.
    """
    from coverage import CoverageData

    names = sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/**/*.py"))
    texts = ((folder / name).read_bytes() for name in names if not name.startswith(".venv"))
    digest = hashlib.sha256(b"".join(texts)).hexdigest()[:16]
    stored = Path(tempfile.gettempdir(), f"line-map-{digest}.coverage")
    if not stored.is_file():
        print("measure which test executes which line", flush=True)
        settings, part = folder.with_suffix(".rc"), f"{stored}.part"
        settings.write_text(f"[run]\nrelative_files = true\ndata_file = {part}\n")
        options = ("--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report=")
        if failed := run_tests(folder, *options, "--timeout=600"):
            sys.exit(f"tests fail without a fault: {', '.join(failed)}")
        Path(part).rename(stored)
    data = CoverageData(str(stored))
    data.read()
    return data
