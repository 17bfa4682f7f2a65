"""Download from a faulty HTTP server, and with killed or concurrent processes."""

import hashlib
import os
import random
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
from pipeline.datasets.download import ATTEMPTS, locate
from tests.pipeline.datasets.server import Action, answer, chunked, serving, status
from tests.pipeline.project import ROOT

pytestmark = pytest.mark.usefixtures("impatient")

CONTENT = random.Random(1).randbytes(300_000)
SIZE, HALF = len(CONTENT), 150_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
KEY = "corpus.snli"
GOOD = answer()
PAGE = b"<!DOCTYPE html>"


@pytest.fixture
def store(folder: Path) -> Path:
    """The folder of the downloads."""
    path = folder / "state" / "downloads"
    path.mkdir(parents=True)
    return path


def get(*urls: str) -> Path:
    return locate(urls, SHA256, KEY)


def check(path: Path, store: Path) -> None:
    """Check that the store has the complete file and the lock only."""
    assert path == store / f"{SHA256[:16]}-file.zip"
    assert path.read_bytes() == CONTENT
    assert sorted(store.iterdir()) == [path, path.with_name(path.name + ".lock")]


def part(store: Path) -> Path:
    return store / f"{SHA256[:16]}-file.zip.part"


def test_a_valid_copy_needs_no_network(store: Path) -> None:
    with serving(CONTENT, GOOD) as site:
        check(get(site.url), store)
        assert site.ranges == [None]
    check(path := get(site.url), store)  # the server is closed
    path.write_bytes(CONTENT[:-1])
    with serving(CONTENT, GOOD) as site:
        check(get(site.url), store)  # replaces the corrupt copy


FAULTS: dict[str, tuple[list[Action], list[int | None]]] = {
    # more interruptions than attempts, each with progress
    "many cuts": ([answer(after=30_000)] * 9 + [GOOD], [None, *range(30_000, 300_000, 30_000)]),
    "no ranges": ([answer(after=HALF, ranges=False), answer(ranges=False)], [None, HALF]),
    "busy": ([status(500), status(503), status(429), GOOD], [None] * 4),
    "a stall": ([answer(after=HALF, holding=True), GOOD], [None, HALF]),
    # without a length, only the last chunk marks a complete response
    "chunks, cut": ([chunked(HALF), GOOD], [None, HALF]),
    "a file that changed": ([answer(bytes(SIZE), after=HALF), GOOD], [None, HALF, None]),
    # a partial file of an earlier process: the digest decides whether the transfer starts again
    "too long": ([GOOD], [SIZE + 4, None]),
    "whole": ([GOOD], [SIZE]),
    "of another file": ([GOOD], [HALF, None]),
}
LEFT = {"too long": CONTENT + b"more", "whole": CONTENT, "of another file": bytes(HALF)}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_costs_one_request(store: Path, name: str) -> None:
    plan, starts = FAULTS[name]
    if name in LEFT:
        part(store).write_bytes(LEFT[name])
    with serving(CONTENT, *plan) as site:
        check(get(site.url), store)
    assert site.ranges == [None if start is None else f"bytes={start}-" for start in starts]


FAILURES: dict[str, tuple[Action, int, str]] = {
    "missing": (status(404), 1, r"file\.zip: the server answered 404 .*check its path or URL"),
    "busy": (status(503), ATTEMPTS, "answered 503 Service Unavailable, 5 times in a row"),
    "no progress": (
        answer(after=HALF, ranges=False),
        ATTEMPTS,
        r"the connection failed .*, 5 times in a row; run again to resume",
    ),
    "a page": (
        answer(PAGE),
        1,
        f"15 bytes with SHA-256 {hashlib.sha256(PAGE).hexdigest()}, expected {SHA256} of params.* "
        r"\(a web page, perhaps to sign in\); download the file in a browser, and name its path",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures(store: Path, name: str) -> None:
    action, requests, message = FAILURES[name]
    with serving(CONTENT, action) as site, pytest.raises(DataError, match=message) as caught:
        get(site.url)
    assert str(caught.value).startswith(f"{KEY}: {site.url}: ")
    assert len(site.ranges) == requests
    kept = HALF if name == "no progress" else 0
    assert (part(store).stat().st_size if part(store).exists() else 0) == kept


def test_mirrors_in_order(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second mirror resumes the transfer of the first; the third has the file."""
    with (
        serving(CONTENT, answer(after=HALF), status(404)) as first,
        serving(CONTENT, answer(b"no")) as second,
        serving(CONTENT, GOOD) as third,
        serving(CONTENT, GOOD) as fourth,
    ):
        with_password = first.url.replace("//", "//me:secret@") + "?token=secret"
        check(get(with_password, second.url, third.url, fourth.url), store)
    assert (first.ranges, second.ranges[0]) == ([None, f"bytes={HALF}-"], f"bytes={HALF}-")
    assert (third.ranges, fourth.ranges) == ([None], [])
    log = capsys.readouterr().err
    assert "404 Not Found; check its path or URL in params.yaml" in log
    assert "secret" not in log


def test_without_a_secure_connection(store: Path) -> None:
    with (
        serving(CONTENT, GOOD) as site,
        pytest.raises(
            DataError, match=r"no secure connection \(.*; set REQUESTS_CA_BUNDLE to"
        ) as e,
    ):
        get(site.url.replace("http:", "https:"))
    assert len(str(e.value)) < 250


def test_without_a_digest_the_copy_is_kept(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing would reveal pieces of two versions, so an interrupted download starts again."""
    with serving(CONTENT, answer(after=HALF), GOOD) as site:
        path = locate([site.url], None, KEY)
        assert path.read_bytes() == CONTENT
        assert locate([site.url], None, KEY) == path
        assert site.ranges == [None, None]
    copy = f"{path}: a copy of {site.url} (remove it to fetch it again), SHA-256 {SHA256}"
    assert capsys.readouterr().err.count(f"corpus.snli: {copy}") == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (PAGE, "a web page, perhaps to sign in, not the file; download the file in a browser, and"),
        (b"<!-- x -->\n<HTML>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer, not the file; r"),
    ],
)
def test_what_comes_in_place_of_a_file_is_not_kept(
    store: Path, content: bytes, problem: str
) -> None:
    with serving(CONTENT, answer(content), GOOD) as site:
        with pytest.raises(DataError, match=rf"^corpus\.snli: {site.url}: {problem}"):
            locate([site.url], None, KEY)
        path = locate([site.url], None, KEY)
        assert path.read_bytes() == CONTENT
    with pytest.raises(DataError, match=rf"file\.zip: {problem}"):
        path.write_bytes(content)
        locate([str(path)], None, KEY)


def test_a_local_file_is_read_in_place(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path("file.zip").resolve()
    path.write_bytes(CONTENT)
    monkeypatch.setenv("HOME", str(path.parent))
    for place in ("file.zip", "~/file.zip", path.as_uri().replace("file:", "FILE:")):
        assert locate([place], None, KEY) == path
        assert capsys.readouterr().err == f"corpus.snli: {path}: SHA-256 {SHA256}\n"
        assert locate([place], SHA256, KEY) == path
    for digest in (None, SHA256):
        assert locate(["file:///no", path.as_uri(), "http://unused.invalid"], digest, KEY) == path
    with pytest.raises(DataError, match=r"///no: .*No such file.*\n.*///either: "):
        locate(["file:///no", "file:///either"], None, KEY)
    assert list(store.iterdir()) == []
    path.write_bytes(PAGE)
    message = f"file.zip: 15 bytes with SHA-256 .*, expected {SHA256} of"
    with pytest.raises(DataError, match=message):
        locate(["file.zip"], SHA256, KEY)
    problem = rf"^corpus\.snli: {path.parent}/none: .*No such file.*; check its path or URL in par"
    with pytest.raises(DataError, match=problem):
        locate(["~/none"], None, KEY)
    os.mkfifo("pipe")  # must not block
    with pytest.raises(DataError, match="a pipe or a device; expected a regular file"):
        locate(["pipe"], SHA256, KEY)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_unwritable_store(store: Path) -> None:
    part(store).symlink_to("/dev/full")
    message = r"cannot write to .*\(No space left on device\); fix this and run again"
    with serving(CONTENT, GOOD) as site, pytest.raises(DataError, match=message):
        get(site.url, site.url)
    assert len(site.ranges) == 1  # another mirror would not help


def wait_for_half(process: subprocess.Popen[bytes], path: Path) -> None:
    deadline = time.monotonic() + 30
    while not (path.exists() and path.stat().st_size >= HALF):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)


@contextmanager
def fetching_elsewhere(url: str) -> Iterator[subprocess.Popen[bytes]]:
    """The same fetch in another process."""
    code = (
        "import sys; from pipeline.datasets.download import locate;"
        "locate([sys.argv[1]], sys.argv[2], 'corpus.snli')"
    )
    command = [sys.executable, "-c", code, url, SHA256]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_resumes_after_a_killed_process(store: Path) -> None:
    with serving(CONTENT, answer(after=HALF, holding=True), answer()) as site:
        with fetching_elsewhere(site.url) as child:
            wait_for_half(child, part(store))
            child.send_signal(signal.SIGKILL)
            assert child.wait() == -signal.SIGKILL
        assert part(store).stat().st_size == HALF
        check(get(site.url), store)
    assert site.ranges == [None, f"bytes={HALF}-"]


def test_two_processes_fetch_once(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (
        serving(CONTENT, answer(after=HALF, holding=True), status(500)) as site,
        fetching_elsewhere(site.url) as child,
    ):
        wait_for_half(child, part(store))
        threading.Timer(0.2, site.go_on.set).start()
        check(get(site.url), store)
        assert child.wait(20) == 0
        assert len(site.ranges) == 1
    assert "another process is fetching" in capsys.readouterr().err
