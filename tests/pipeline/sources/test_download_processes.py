"""Fetching in two processes, and in one that is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.pipeline.sources.server import answer, serving, status
from tests.pipeline.sources.test_download import CONTENT, HALF, SHA256, check, get, part


def wait_for_half(process: subprocess.Popen[bytes], path: Path) -> None:
    deadline = time.monotonic() + 30
    while not (path.exists() and path.stat().st_size >= HALF):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)


@contextmanager
def fetching_elsewhere(url: str, store: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The same fetch in another process."""
    code = (
        "import sys; from pathlib import Path; from pipeline.sources.download import fetch;"
        "fetch([sys.argv[1]], sys.argv[2], None, Path(sys.argv[3]), 'corpus.snli')"
    )
    command = [sys.executable, "-c", code, url, SHA256, str(store)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_resumes_after_a_killed_process(tmp_path: Path) -> None:
    with serving(CONTENT, answer(after=HALF, holding=True), answer()) as site:
        with fetching_elsewhere(site.url, tmp_path) as child:
            wait_for_half(child, part(tmp_path))
            child.send_signal(signal.SIGKILL)
            assert child.wait() == -signal.SIGKILL
        assert part(tmp_path).stat().st_size == HALF
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [None, f"bytes={HALF}-"]


def test_two_processes_fetch_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (
        serving(CONTENT, answer(after=HALF, holding=True), status(500)) as site,
        fetching_elsewhere(site.url, tmp_path) as child,
    ):
        wait_for_half(child, part(tmp_path))
        threading.Timer(0.2, site.go_on.set).start()
        check(get(tmp_path, site.url), tmp_path)
        assert child.wait(20) == 0
        assert len(site.ranges) == 1
    assert "another process is fetching" in capsys.readouterr().err
