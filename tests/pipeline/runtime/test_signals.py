"""Ctrl-C, SIGTERM of a scheduler, SIGHUP of a closed terminal."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.runtime.launch import SIGNALS
from tests.pipeline.runtime.test_stage import ENVIRONMENT, ROOT, STAGE, run

INTERRUPTED = "interrupted by {}; run the same command again to go on\n"


@pytest.fixture(autouse=True)
def hangup_is_not_ignored() -> Iterator[None]:
    """As the tests may run under nohup, which their processes would inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_prints_one_line_and_removes_temporary_files(
    tmp_path: Path, number: signal.Signals
) -> None:
    body = "with replacing(Path('half.txt')) as t: t.write_text('x'); "
    body += f"os.kill(os.getpid(), {number}); time.sleep(20)"
    assert run(body, tmp_path) == (128 + number, INTERRUPTED.format(number.name))
    left = {path.name for path in tmp_path.rglob("*")}
    assert left == {"artifacts", "studies", "state", "run.lock"}


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("stage", ["pipeline.corpus", "studies.halting.stage"])
def test_an_interrupt_during_imports_prints_one_line(
    tmp_path: Path, stage: str, number: signal.Signals
) -> None:
    module = tmp_path / "filelock.py"  # what each stage imports; here, nothing comes of it
    module.write_text(f"import os, time; os.kill(os.getpid(), {number}); time.sleep(20)")
    command = [sys.executable, str(ROOT / "pipeline/runtime/launch.py"), "-m", stage]
    environment = ENVIRONMENT | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=30)
    expected = (128 + number, INTERRUPTED.format(number.name))
    assert (done.returncode, done.stderr.decode()) == expected


def test_the_line_is_printed_while_the_main_thread_waits_in_c(tmp_path: Path) -> None:
    """As for Ray, whose processes have received the signal too; its monitor ends the process."""
    body = """import ctypes, threading
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    threading.Timer(2, os._exit, (1,)).start()
    mutex, library = ctypes.create_string_buffer(64), ctypes.CDLL(None)
    library.pthread_mutex_lock(mutex), library.pthread_mutex_lock(mutex)"""
    assert run(body, tmp_path) == (1, INTERRUPTED.format("SIGTERM"))


def test_a_closed_terminal_unwinds_a_stage(tmp_path: Path) -> None:
    """The kernel sends SIGHUP, and what is written to the terminal fails."""
    body = """import fcntl, termios; from tqdm import tqdm
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    try:
        for _ in tqdm(range(999)): Path("started").touch(); time.sleep(.1); print("a line")
    finally:
        print("the end"); Path("unwound").touch()"""
    primary, terminal = pty.openpty()
    command = [sys.executable, "-c", STAGE.format(body=body)]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
    with subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, start_new_session=True, **streams
    ) as process:
        os.close(terminal)
        while not (tmp_path / "started").exists():
            assert process.poll() is None, os.read(primary, 9999)
        os.close(primary)
        assert process.wait(30) != 0
    assert (tmp_path / "unwound").exists()
    assert not (tmp_path / "state" / "errors").exists()


def test_what_nohup_ignores_stays_ignored(tmp_path: Path) -> None:
    body = f"os.kill(os.getpid(), {signal.SIGHUP}); Path('done').touch()"
    script = [sys.executable, "-c", STAGE.format(body=body)]
    subprocess.run(["nohup", *script], cwd=tmp_path, env=ENVIRONMENT, check=True, timeout=30)
    assert (tmp_path / "done").exists()
