"""One attempt at bringing the rest of a file from one URL into a partial file on disk.

What can go wrong is of three kinds: `CutError` (the same URL is worth another try),
`RefusedError` (this URL will not do, another may) and DataError (no URL helps: the disk is full).
"""

import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError, IncompleteRead

from actmodels.errors import DataError

CONNECT_TIMEOUT_S = 15.0
READ_TIMEOUT_S = 60.0  # without one byte; a slow server is not a stalled one
CHUNK_BYTES = 1 << 18
BUSY_STATUSES = (408, 425, 429)  # worth another try, as every 5xx is


class CutError(Exception):
    """The transfer stopped early; what came is kept, and another attempt goes on from there."""


class RefusedError(Exception):
    """The URL does not give the file, and asking again would not help."""


class Body(NamedTuple):
    """Bytes on offer: chunks that begin at byte `start` of a file of `total` bytes."""

    chunks: Iterable[bytes]
    start: int
    total: int | None
    etag: str = ""


def transfer(url: str, part: Path, size: int | None, label: str) -> bool:
    """Append to `part` what it lacks; True if `part` now holds pieces of several attempts.

    Args:
        size: the bytes of the whole file where known.
        label: section of params.yaml for the progress bar and for messages.

    Raises:
        CutError, RefusedError: see above.
        DataError: the disk is full, or `part` cannot be written.
    """
    offset = part.stat().st_size if part.exists() else 0
    opener = _open_file if urlsplit(url).scheme == "file" else _open_http
    with opener(url, offset, part) as body:
        total = body.total if body.total is not None else size
        if size is not None and total != size:
            raise RefusedError(f"the file has {total:,} bytes, expected {size:,} ({label}.bytes)")
        with _disk_errors(part, total, label):
            _check_space(part, total, offset)
            if body.start == 0:
                _note_etag(part, url, body.etag)
            _append(body, part, total, label)
    written = part.stat().st_size
    if total is not None and written != total:
        if written > total:
            part.unlink()
        raise CutError(f"{written:,} of {total:,} bytes came")
    return body.start > 0


def _append(body: Body, part: Path, total: int | None, label: str) -> None:
    bar = tqdm(total=total, initial=body.start, desc=label, unit="B", unit_scale=True)
    with bar, part.open("ab" if body.start else "wb") as out:
        for chunk in body.chunks:
            out.write(chunk)
            bar.update(len(chunk))
        out.flush()
        os.fsync(out.fileno())


def _check_space(part: Path, total: int | None, held: int) -> None:
    if total is not None and total - held > shutil.disk_usage(part.parent).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def _disk_errors(part: Path, total: int | None, label: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(f"{label}: cannot write {part}: {error.strerror}") from error
        held = part.stat().st_size if part.exists() else 0
        needed = "an unknown number of" if total is None else f"{total - held:,}"
        free = shutil.disk_usage(part.parent).free
        raise DataError(
            f"{label}: no space left in {part.parent}: {needed} bytes are needed and {free:,} are "
            "free; make room and run again (the bytes already fetched are kept)"
        ) from error


@contextmanager
def _open_file(url: str, offset: int, part: Path) -> Iterator[Body]:
    address = urlsplit(url)
    if address.netloc not in ("", "localhost"):
        raise RefusedError(
            "not an absolute path; a file URL has three slashes: file:///folder/name"
        )
    path = Path(url2pathname(address.path))
    try:
        with path.open("rb") as source:
            total = os.fstat(source.fileno()).st_size
            start = source.seek(offset if offset <= total else 0)
            yield Body(iter(lambda: source.read(CHUNK_BYTES), b""), start, total)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise RefusedError(f"the file cannot be read ({error.strerror})") from error


@contextmanager
def _open_http(url: str, offset: int, part: Path) -> Iterator[Body]:
    # Without identity a server may compress on the way, and then no byte count means anything.
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers |= {"Range": f"bytes={offset}-"} | _if_range(part, url)
    timeouts = (CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
    try:
        with requests.get(url, headers=headers, stream=True, timeout=timeouts) as response:
            yield _read_head(response, offset, part)
    except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
        raise CutError(f"the connection failed ({_cause(error)})") from error
    except requests.RequestException as error:
        raise RefusedError(f"the request failed ({error})") from error


def _read_head(response: requests.Response, offset: int, part: Path) -> Body:
    """What a response offers, judged by its status and headers."""
    status = response.status_code
    if status >= 500 or status in BUSY_STATUSES:
        raise CutError(f"the server answered {status} {response.reason}")
    content_range = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", content_range)
    first, whole = match.groups() if match else (None, None)
    if status == 416 and whole == str(offset):  # nothing is missing
        return Body((), offset, offset)
    if status == 416 or (status == 206 and first != str(offset)):
        part.unlink(missing_ok=True)
        raise CutError(f"the server could not go on from byte {offset:,}")
    if status not in (200, 206):
        raise RefusedError(f"the server answered {status} {response.reason}")
    start = offset if status == 206 else 0
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdigit() else None
    # read1 hands over what is there; waiting for a whole chunk would lose the start of a cut one.
    chunks = iter(lambda: response.raw.read1(CHUNK_BYTES), b"")
    return Body(chunks, start, total, response.headers.get("ETag", ""))


def etag_file(part: Path) -> Path:
    """Where the URL and the version that a partial file began from are noted."""
    return part.with_name(part.name + ".etag")


def _note_etag(part: Path, url: str, etag: str) -> None:
    etag_file(part).write_text(f"{url}\n{etag}", encoding="utf-8")


def _if_range(part: Path, url: str) -> dict[str, str]:
    """Ask for the rest only of the very file that the partial one began from."""
    if not etag_file(part).is_file():
        return {}
    noted_url, _, etag = etag_file(part).read_text(encoding="utf-8").partition("\n")
    return {"If-Range": etag} if noted_url == url and etag.startswith('"') else {}


def _cause(error: BaseException) -> str:
    """The innermost reason: what requests itself prints is a page long."""
    if isinstance(error, IncompleteRead):
        return f"{error.expected:,} bytes are missing"
    inner = getattr(error, "reason", None) or (error.args[-1] if error.args else None)
    return _cause(inner) if isinstance(inner, BaseException) else str(error)
