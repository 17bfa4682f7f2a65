"""A real HTTP server that misbehaves as a plan says: one action per request, the last repeats."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Action = Callable[["Handler"], None]


@dataclass
class Server:
    """What is served, how, and what was asked for."""

    content: bytes
    plan: list[Action]
    url: str = ""
    etag: str = '"v1"'
    ranges: list[str | None] = field(default_factory=list)  # Range header of each request
    closing: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    board: Server

    def do_GET(self) -> None:
        plan = self.board.plan
        action = plan[min(len(self.board.ranges), len(plan) - 1)]
        self.board.ranges.append(self.headers["Range"])
        action(self)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def head(self, status: int, length: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        if self.board.etag:
            self.send_header("ETag", self.board.etag)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def rest(self) -> bytes:
        """Send the head that the request asks for; return the body that should follow."""
        content, asked = self.board.content, self.headers["Range"]
        stale = self.headers["If-Range"] not in (None, self.board.etag)
        if asked is None or stale:
            self.head(200, len(content))
            return content
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            self.head(416, 0, Content_Range=f"bytes */{len(content)}")
            return b""
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.head(206, len(content) - start, Content_Range=span)
        return content[start:]


def good(handler: Handler) -> None:
    handler.wfile.write(handler.rest())


def status(code: int) -> Action:
    return lambda handler: handler.head(code, 0)


def cut(after: int) -> Action:
    """Promise everything, send `after` bytes and hang up."""

    def action(handler: Handler) -> None:
        handler.wfile.write(handler.rest()[:after])

    return action


def stall(after: int) -> Action:
    """Send `after` bytes, then nothing, with the connection open."""

    def action(handler: Handler) -> None:
        handler.wfile.write(handler.rest()[:after])
        handler.wfile.flush()
        handler.board.closing.wait(20)

    return action


def no_ranges(handler: Handler) -> None:
    handler.head(200, len(handler.board.content))
    handler.wfile.write(handler.board.content)


def cut_without_ranges(after: int) -> Action:
    def action(handler: Handler) -> None:
        handler.head(200, len(handler.board.content))
        handler.wfile.write(handler.board.content[:after])

    return action


def promise(extra: int) -> Action:
    """State a Content-Length that is off by `extra`."""

    def action(handler: Handler) -> None:
        handler.head(200, len(handler.board.content) + extra)
        handler.wfile.write(handler.board.content)

    return action


def wrong_range(handler: Handler) -> None:
    """Answer a request for the rest with some other part."""
    handler.head(206, 10, Content_Range=f"bytes 1-10/{len(handler.board.content)}")
    handler.wfile.write(handler.board.content[1:11])


def chunked(after: int) -> Action:
    """Send no Content-Length but chunks, hanging up after `after` bytes."""

    def action(handler: Handler) -> None:
        content = handler.board.content
        handler.protocol_version = "HTTP/1.1"
        handler.close_connection = True
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for start in range(0, after, 50_000):
            piece = content[start : start + 50_000]
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if after == len(content):
            handler.wfile.write(b"0\r\n\r\n")

    return action


def other(content: bytes) -> Action:
    """Serve a file that is not the one expected."""

    def action(handler: Handler) -> None:
        handler.head(200, len(content))
        handler.wfile.write(content)

    return action


@contextmanager
def serving(content: bytes, *plan: Action) -> Iterator[Server]:
    board = Server(content, list(plan))
    handler = type("BoundHandler", (Handler,), {"board": board})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    board.url = f"http://127.0.0.1:{server.server_port}/folder/file.zip"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield board
    finally:
        board.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
