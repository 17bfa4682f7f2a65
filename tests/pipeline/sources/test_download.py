"""Fetching from a real server that cuts, stalls, lies and dies, and in processes that do."""

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources.download import ATTEMPTS, fetch
from tests.pipeline.sources.server import Action, answer, chunked, serving, status, wrong_range

pytestmark = pytest.mark.usefixtures("impatient")

CONTENT = random.Random(1).randbytes(300_000)
SIZE, HALF = len(CONTENT), 150_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
KEY = "corpus.snli"
GOOD = answer()
PAGE = b"a login page"


def get(store: Path, *urls: str, size: int | None = None) -> Path:
    return fetch(urls, SHA256, size, store, KEY)


def check(path: Path, store: Path) -> None:
    """The whole file under its name, and nothing but the lock beside it."""
    assert path == store / f"{SHA256[:16]}-file.zip"
    assert path.read_bytes() == CONTENT
    assert sorted(store.iterdir()) == [path, path.with_name(path.name + ".lock")]


def part(store: Path) -> Path:
    return store / f"{SHA256[:16]}-file.zip.part"


def test_whole_file_then_no_network(tmp_path: Path) -> None:
    with serving(CONTENT, GOOD) as site:
        check(get(tmp_path / "store", site.url, size=SIZE), tmp_path / "store")
        assert site.ranges == [None]
    check(get(tmp_path / "store", site.url), tmp_path / "store")  # the server is gone


def test_damaged_copy_is_fetched_anew(tmp_path: Path) -> None:
    (tmp_path / f"{SHA256[:16]}-file.zip").write_bytes(CONTENT[:-1])
    with serving(CONTENT, GOOD) as site:
        check(get(tmp_path, site.url), tmp_path)


MISHAPS: dict[str, tuple[list[Action], list[int | None]]] = {
    # more cuts than attempts, each with progress: none of them is the end
    "many cuts": ([answer(after=30_000)] * 9 + [GOOD], [None, *range(30_000, 300_000, 30_000)]),
    "no ranges": ([answer(after=HALF, ranges=False), answer(ranges=False)], [None, HALF]),
    "busy": ([status(500), status(503), status(429), GOOD], [None] * 4),
    "a stall": ([answer(after=HALF, holding=True), GOOD], [None, HALF]),
    # the 416 that the promised rest yields says that all is there
    "a length too long": ([answer(promised=10), GOOD], [None, SIZE]),
    # without a length only the missing last chunk tells a cut answer from a whole one
    "chunks, cut": ([chunked(HALF), GOOD], [None, HALF]),
    "chunks": ([chunked(SIZE)], [None]),
    "another part": ([answer(after=HALF), wrong_range, GOOD], [None, HALF, None]),
    "a file that changed": ([answer(bytes(SIZE), after=HALF), GOOD], [None, HALF, None]),
}


@pytest.mark.parametrize("name", MISHAPS)
def test_a_mishap_costs_a_request(tmp_path: Path, name: str) -> None:
    plan, starts = MISHAPS[name]
    with serving(CONTENT, *plan) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [None if start is None else f"bytes={start}-" for start in starts]


@pytest.mark.parametrize(
    ("left", "requests"),
    [(CONTENT + b"more", 2), (CONTENT, 1), (bytes(HALF), 2), (CONTENT[:HALF], 1)],
    ids=["too long", "whole", "of another file", "half"],
)
def test_what_an_earlier_process_left(tmp_path: Path, left: bytes, requests: int) -> None:
    """It is gone on from, and once more from the start where the digest says that it is wrong."""
    part(tmp_path).write_bytes(left)
    with serving(CONTENT, GOOD) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [f"bytes={len(left)}-", None][:requests]


FAILURES: dict[str, tuple[Action, int, str]] = {
    "missing": (status(404), 1, r"file\.zip: the server answered 404 .*corpus\.snli\.urls"),
    "busy": (status(503), ATTEMPTS, "answered 503 Service Unavailable, 5 times in a row"),
    "no progress": (
        answer(after=HALF, ranges=False),
        ATTEMPTS,
        r"\(150,000 bytes are missing\), 5 times in a row; run again",
    ),
    "a length too short": (answer(promised=-10), 1, "299,990 bytes came with SHA-256"),
    "another file": (
        answer(PAGE),
        1,
        f"12 bytes came with SHA-256 {hashlib.sha256(PAGE).hexdigest()}, expected {SHA256} "
        r"\(corpus\.snli\.sha256\)",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_a_sentence(tmp_path: Path, name: str) -> None:
    action, requests, message = FAILURES[name]
    with serving(CONTENT, action) as site, pytest.raises(DataError, match=message) as caught:
        get(tmp_path, site.url)
    assert str(caught.value).startswith(f"{KEY}: {site.url}: ")
    assert len(site.ranges) == requests
    kept = HALF if name == "no progress" else 0
    assert (part(tmp_path).stat().st_size if part(tmp_path).exists() else 0) == kept


def test_wrong_size_is_seen_before_the_body(tmp_path: Path) -> None:
    message = r"the file has 300,000 bytes, expected 7 \(corpus\.snli\.bytes\)"
    with serving(CONTENT, GOOD) as site, pytest.raises(DataError, match=message):
        get(tmp_path, site.url, size=7)
    assert not part(tmp_path).exists()


def test_mirrors_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second mirror goes on with what the first one gave; the third has another file."""
    with (
        serving(CONTENT, answer(after=HALF), status(404)) as first,
        serving(CONTENT, answer(b"no")) as second,
        serving(CONTENT, GOOD) as third,
        serving(CONTENT, GOOD) as fourth,
    ):
        check(get(tmp_path, first.url, second.url, third.url, fourth.url), tmp_path)
    assert (first.ranges, second.ranges[0]) == ([None, f"bytes={HALF}-"], f"bytes={HALF}-")
    assert (third.ranges, fourth.ranges) == ([None], [])
    assert "404 Not Found; check corpus.snli.urls" in capsys.readouterr().err


def test_every_mirror_is_in_the_message(tmp_path: Path) -> None:
    with serving(CONTENT, GOOD) as gone:
        pass  # from here on nobody listens there
    with serving(CONTENT, status(403)) as site, pytest.raises(DataError) as caught:
        get(tmp_path, gone.url, site.url)
    first, second = str(caught.value).splitlines()
    assert gone.url in first and re.search(r"the connection failed \(.*refused", first)
    assert site.url in second and "403 Forbidden" in second


def test_file_url_with_spaces(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    source = tmp_path / "a folder" / "file.zip"
    source.write_bytes(CONTENT)
    part(tmp_path / "store").parent.mkdir()
    part(tmp_path / "store").write_bytes(CONTENT[:HALF])
    check(get(tmp_path / "store", source.as_uri()), tmp_path / "store")
    assert source.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("file:///no/such/file.zip", "cannot be read (No such file"),
        ("file:///tmp", "cannot be read (Is a directory"),
        ("file://data/file.zip", "three slashes"),
        (Path(__file__).as_uri(), "bytes came with SHA-256"),
    ],
)
def test_file_url_problems(tmp_path: Path, url: str, problem: str) -> None:
    with pytest.raises(DataError, match=re.escape(problem)):
        get(tmp_path, url)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_disk_fills_up_on_the_way(tmp_path: Path) -> None:
    part(tmp_path).symlink_to("/dev/full")
    message = r"cannot write to .*\(No space left on device\); mend that and run again"
    with serving(CONTENT, GOOD) as site, pytest.raises(DataError, match=message):
        get(tmp_path, site.url, site.url)
    assert len(site.ranges) == 1  # another mirror would not help


def test_store_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"corpus\.snli: cannot write to .*file/store"):
        get(tmp_path / "file" / "store", "file:///tmp/x")


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
