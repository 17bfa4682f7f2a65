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
from typing import NamedTuple

import pytest

from tests.pipeline.sources import server
from tests.pipeline.sources.fetching import CONTENT, HALF, SHA256, check, get, part
from tests.pipeline.sources.server import serving


class Child(NamedTuple):
    process: subprocess.Popen[bytes]

    def wait_for(self, path: Path, size: int) -> None:
        deadline = time.monotonic() + 30
        while not (path.exists() and path.stat().st_size >= size):
            assert time.monotonic() < deadline and self.process.poll() is None
            time.sleep(0.01)


@contextmanager
def fetching_elsewhere(url: str, store: Path) -> Iterator[Child]:
    """The same fetch in another process."""
    code = (
        "import sys; from pathlib import Path; from pipeline.sources.download import fetch;"
        "fetch([sys.argv[1]], sys.argv[2], None, Path(sys.argv[3]), 'corpus.snli')"
    )
    command = [sys.executable, "-c", code, url, SHA256, str(store)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
    try:
        yield Child(process)
    finally:
        process.kill()
        process.wait()


def test_resumes_after_a_killed_process(tmp_path: Path) -> None:
    with serving(CONTENT, server.stall(HALF), server.good) as site:
        with fetching_elsewhere(site.url, tmp_path) as child:
            child.wait_for(part(tmp_path), HALF)
            child.process.send_signal(signal.SIGKILL)
            assert child.process.wait() == -signal.SIGKILL
        assert part(tmp_path).stat().st_size == HALF
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [None, f"bytes={HALF}-"]


def test_two_processes_fetch_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = threading.Event()

    def held(handler: server.Handler) -> None:
        body = handler.rest()
        handler.wfile.write(body[:HALF])
        handler.wfile.flush()
        release.wait(20)
        handler.wfile.write(body[HALF:])

    with (
        serving(CONTENT, held, server.status(500)) as site,
        fetching_elsewhere(site.url, tmp_path) as child,
    ):
        child.wait_for(part(tmp_path), HALF)
        threading.Timer(0.2, release.set).start()
        check(get(tmp_path, site.url), tmp_path)
        assert child.process.wait(20) == 0
        assert len(site.ranges) == 1
    assert "another process is fetching" in capsys.readouterr().err
