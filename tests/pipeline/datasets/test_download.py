"""Download from a faulty HTTP server, and with killed or concurrent processes."""

import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline.datasets.download import fetch_text, locate
from pipeline.parameters.section import TextSource
from tests.pipeline.project import ROOT, fetched, make_zip, transcribe

pytestmark = pytest.mark.usefixtures("impatient")

CONTENT = random.Random(1).randbytes(300_000)
SIZE, HALF = len(CONTENT), 150_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
KEY = "corpus.snli"
PAGE = b"<!DOCTYPE html>"
Action = Callable[["Handler"], None]  # one per request; the last one repeats


@dataclass
class Server:
    plan: tuple[Action, ...]
    url: str = ""
    ranges: list[str | None] = field(default_factory=list)  # Range header of each request
    go_on: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    board: Server

    def do_GET(self) -> None:
        plan = self.board.plan
        action = plan[min(len(self.board.ranges), len(plan) - 1)]
        self.board.ranges.append(self.headers["Range"])
        action(self)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def head(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()


def answer(
    body: bytes = CONTENT, after: int | None = None, *, ranges: bool = True, holding: bool = False
) -> Action:
    """Send `body` up to `after`; `holding` keeps the connection open, and sends the rest later."""

    def action(handler: Handler) -> None:
        requested = handler.headers["Range"] if ranges else None
        start = int(requested.removeprefix("bytes=").removesuffix("-")) if requested else 0
        if start >= len(body):
            handler.head(416, Content_Length=0, Content_Range=f"bytes */{len(body)}")
            return
        span = {"Content_Range": f"bytes {start}-{len(body) - 1}/{len(body)}"} if requested else {}
        handler.head(206 if requested else 200, Content_Length=len(body) - start, **span)
        handler.wfile.write(body[start:][:after])
        if holding:
            handler.wfile.flush()
            handler.board.go_on.wait(20)
            handler.wfile.write(body[start:][after:])

    return action


def status(code: int) -> Action:
    return lambda handler: handler.head(code, Content_Length=0)


def cut_chunks(handler: Handler) -> None:
    """Send half of the chunks without Content-Length, and close the connection."""
    handler.protocol_version = "HTTP/1.1"
    handler.close_connection = True
    handler.head(200, Transfer_Encoding="chunked")
    for start in range(0, HALF, 50_000):
        piece = CONTENT[start : start + 50_000]
        handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))


@contextmanager
def serving(*plan: Action) -> Iterator[Server]:
    board = Server(plan)
    handler = type("BoundHandler", (Handler,), {"board": board})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    board.url = f"http://127.0.0.1:{server.server_port}/folder/file.zip"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield board
    finally:
        board.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()


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
    with serving(answer()) as site:
        check(get(site.url), store)
        assert site.ranges == [None]
    check(path := get(site.url), store)  # the server is closed
    path.write_bytes(CONTENT[:-1])
    with serving(answer()) as site:
        check(get(site.url), store)  # replaces the corrupt copy


def test_faults_of_a_server(
    store: Path, golden: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line of the golden file is a plan of a server; below are its requests and the result."""

    def fetch(
        *plan: Action, left: bytes = b"", digest: str | None = SHA256, times: int = 1, tls: str = ""
    ) -> list[str]:
        shutil.rmtree(store)
        store.mkdir()
        if left:
            part(store).write_bytes(left)
        lines = []
        with serving(*plan) as site:
            url = site.url.replace("http:", tls or "http:")
            for _ in range(times):
                try:
                    path = locate([url], digest, KEY)
                    lines += [f"complete: {path.read_bytes() == CONTENT}"]
                    if digest:
                        check(path, store)
                except DataError as error:
                    lines += [*str(error).splitlines()]
            lines += [f"requests: {', '.join(str(start) for start in site.ranges)}"]
            stderr = capsys.readouterr().err.splitlines()
            lines += [f"note: {line}" for line in stderr if "SHA-256" in line]
            if part(store).exists() and part(store).stat().st_size:
                lines += [f"kept: {part(store).stat().st_size} bytes"]
            hidden = {url: "URL", f"{store}/": "", SHA256: "SHA256"}
            for text, name in hidden.items():
                lines = [
                    re.sub(r"\((.{0,9}SSL.*?)\);", "(…);", line.replace(text, name))
                    for line in lines
                ]
        return [re.sub("[0-9a-f]{16}-", "", line) for line in lines]

    names = {"fetch": fetch, "answer": answer, "status": status, "cut_chunks": cut_chunks}
    names |= {"SIZE": SIZE, "HALF": HALF, "CONTENT": CONTENT}
    transcribe(golden, "download.txt", names)


def test_mirrors_in_order(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second mirror resumes the transfer of the first; the third has the file."""
    plans = ([answer(after=HALF), status(404)], [answer(b"no")], [answer()], [answer()])
    first, second, third, fourth = (serving(*plan) for plan in plans)
    with first as one, second as two, third as three, fourth as four:
        with_password = one.url.replace("//", "//me:secret@") + "?token=secret"
        check(get(with_password, two.url, three.url, four.url), store)
    assert (one.ranges, two.ranges[0]) == ([None, f"bytes={HALF}-"], f"bytes={HALF}-")
    assert (three.ranges, four.ranges) == ([None], [])
    log = capsys.readouterr().err
    assert "404 Not Found; check its path or URL in params.yaml" in log and "secret" not in log


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
    assert list(store.iterdir()) == []
    path.write_bytes(PAGE)
    os.mkfifo("pipe")  # must not block
    for places, digest, problem in (
        (["file:///no", "file:///either"], None, r"///no: .*No such file.*\n.*///either: "),
        (["file.zip"], SHA256, f"file.zip: 15 bytes with SHA-256 .*, expected {SHA256} of"),
        (["~/none"], None, rf"^corpus\.snli: {path.parent}/none: .*No such file.*; check its path"),
        (["pipe"], SHA256, "a pipe or a device; expected a regular file"),
    ):
        with pytest.raises(DataError, match=problem):
            locate(places, digest, KEY)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_unwritable_store(store: Path) -> None:
    part(store).symlink_to("/dev/full")
    message = r"cannot write to .*\(No space left on device\); fix this and run again"
    with serving(answer()) as site, pytest.raises(DataError, match=message):
        get(site.url, site.url)
    assert len(site.ranges) == 1  # another mirror would not help


def test_two_processes_fetch_once(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = "import sys; from pipeline.datasets.download import locate;"
    code += "locate([sys.argv[1]], sys.argv[2], 'corpus.snli')"
    with serving(answer(after=HALF, holding=True), status(500)) as site:
        command = [sys.executable, "-c", code, site.url, SHA256]
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=env) as child:
            deadline = time.monotonic() + 30
            while not (part(store).exists() and part(store).stat().st_size >= HALF):
                assert time.monotonic() < deadline and child.poll() is None
                time.sleep(0.01)
            threading.Timer(0.2, site.go_on.set).start()
            check(get(site.url), store)
            assert child.wait(20) == 0 and len(site.ranges) == 1
    assert "another process is fetching" in capsys.readouterr().err


MEMBERS = {"a/1": b"one\ntwo", "a/2": "zw\xf6lf\n".encode(), "0": b"", "a/3": b"\xff\x00 end"}


def text_of(path: Path, *members: str, **changes: Any) -> bytes:
    source = fetched(path) | {"name": "a", "members": list(members)} | changes
    return fetch_text(TextSource(**source), "study.text")


def test_a_text_is_joined_from_members_in_the_configured_order(folder: Path) -> None:
    archive = make_zip(folder / "mirror.zip", MEMBERS)
    assert text_of(archive, *MEMBERS) == b"one\ntwo\nzw\xc3\xb6lf\n\xff\x00 end"
    assert text_of(archive, "a/3", "a/1") == b"\xff\x00 end\none\ntwo"
    (folder / "plain.txt").write_bytes(CONTENT)
    assert text_of(folder / "plain.txt") == CONTENT
    for members, changes, problem in (
        ([], {}, r"^study\.text: .*mirror\.zip is a zip archive; name files of it in study"),
        (["0"], {}, r"^study\.text: the text is empty; expected at least one byte"),
        (["a/1"], {"sha256": "0" * 64}, r"^study\.text: .*expected 0{64} of params"),
    ):
        with pytest.raises(DataError, match=problem):
            text_of(archive, *members, **changes)
