"""An HTTP server with planned faults: one action per request; the last one repeats."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Action = Callable[["Handler"], None]


@dataclass
class Server:
    """The content, the plan, and the requests so far."""

    content: bytes
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
    content: bytes | None = None,
    *,
    after: int | None = None,
    ranges: bool = True,
    holding: bool = False,
) -> Action:
    """Send the file, or another `content`, and stop `after` a number of bytes.

    ranges: support range requests.
    holding: keep the connection open, and send the rest after `go_on`.
    """

    def action(handler: Handler) -> None:
        body = handler.board.content if content is None else content
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


def chunked(after: int) -> Action:
    """Send chunks without Content-Length, and close the connection after `after` bytes."""

    def action(handler: Handler) -> None:
        content = handler.board.content
        handler.protocol_version = "HTTP/1.1"
        handler.close_connection = True
        handler.head(200, Transfer_Encoding="chunked")
        for start in range(0, after, 50_000):
            piece = content[start : start + 50_000]
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    return action


@contextmanager
def serving(content: bytes, *plan: Action) -> Iterator[Server]:
    """Serve while the block runs."""
    board = Server(content, plan)
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
