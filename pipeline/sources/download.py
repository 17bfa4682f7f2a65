"""Fetch a file that is known by its SHA-256, from the first of several mirrors that has it.

Whatever came stays in a partial file, so an attempt cut by the network, a crash or a kill goes
on where it stopped; the digest of the whole decides at the end.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import requests
from filelock import FileLock, Timeout
from tqdm import tqdm
from urllib3.exceptions import HTTPError, IncompleteRead

from actmodels.errors import DataError
from actmodels.files import file_digest
from pipeline.parameters.section import Fetched
from pipeline.running.stage import state_folder

ATTEMPTS = 5  # in a row without one new byte
FIRST_WAIT_S = 1.0  # doubles with every attempt
LONGEST_WAIT_S = 30.0
CONNECT_TIMEOUT_S = 15.0
READ_TIMEOUT_S = 60.0  # without one byte; a slow server is not a stalled one
CHUNK_BYTES = 1 << 18
BUSY_STATUSES = (408, 425, 429)  # worth another try, as every 5xx is


class CutError(Exception):
    """The transfer stopped early; what came is kept, and another attempt goes on from there."""


class RefusedError(Exception):
    """The URL does not give the file, and asking again would not help."""


def fetch(urls: Sequence[str], sha256: str, size: int | None, store: Path, key: str) -> Path:
    """The path of the file in `store`, fetched unless a good copy is there already.

    Safe to call from several processes at once: one fetches and the others wait for it.

    Args:
        urls: mirrors in order of preference; https://, http:// or file:///.
        sha256: digest of the file, in lower-case hex.
        size: bytes of the file, or None where unknown.
        store: folder of the downloads; the file is named by its digest and its first URL.
        key: the section of params.yaml to name in messages, such as "corpus.snli".

    Raises:
        DataError: no mirror gave a file with this digest, or it cannot be written.
    """
    name = PurePosixPath(unquote(urlsplit(urls[0]).path)).name or "file"
    target = store / f"{sha256[:16]}-{name}"
    try:
        store.mkdir(parents=True, exist_ok=True)
        with _alone(target, key):
            if not target.exists() or file_digest(target) != sha256:
                _from_mirrors(urls, sha256, size, target, key)
    except OSError as error:
        raise DataError(
            f"{key}: cannot write to {store} ({error.strerror or error}); mend that and run again "
            "(what already came is kept)"
        ) from error
    return target


def fetch_named(file: Fetched, key: str) -> Path:
    """The file that a section of params.yaml, `key`, names; raises as `fetch` does."""
    return fetch(file.urls, file.sha256, file.bytes, state_folder() / "downloads", key)


@contextmanager
def _alone(target: Path, key: str) -> Iterator[None]:
    """Hold the file's lock, which the kernel takes back from a process that dies."""
    lock = FileLock(target.with_name(target.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _say(f"{key}: another process is fetching {target.name}; waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _from_mirrors(
    urls: Sequence[str], sha256: str, size: int | None, target: Path, key: str
) -> None:
    part = target.with_name(target.name + ".part")
    problems: list[str] = []
    for url in urls:
        if problems:
            _say(f"{problems[-1]}; trying the next URL")
        try:
            _from_url(url, sha256, size, part, key)
        except CutError as cut:
            problems.append(
                f"{key}: {url}: {cut}, {ATTEMPTS} times in a row; run again to go on from there"
            )
        except RefusedError as refusal:
            problems.append(f"{key}: {url}: {refusal}; check {key}.urls in params.yaml")
        else:
            part.replace(target)
            return
    raise DataError("\n".join(problems))


def _from_url(url: str, sha256: str, size: int | None, part: Path, key: str) -> None:
    """Complete `part` from one URL and check it; a part that fails the check is removed."""
    for last in (False, True):
        if urlsplit(url).scheme == "file":
            pieced = _copy(url, part)
        else:
            pieced = _persist(url, part, size, key)
        found = file_digest(part)
        if found == sha256:
            return
        held = _size(part)
        part.unlink()
        if last or not pieced:
            raise RefusedError(
                f"{held:,} bytes came with SHA-256 {found}, expected {sha256} ({key}.sha256)"
            )
        # else the pieces may be of two versions: once more, from the start


def _copy(url: str, part: Path) -> bool:
    """Copy a file of this machine; False, as it is never pieced together."""
    address = urlsplit(url)
    if address.netloc not in ("", "localhost"):
        raise RefusedError(
            "not an absolute path; a file URL has three slashes: file:///folder/name"
        )
    try:
        source = Path(url2pathname(address.path)).open("rb")  # noqa: SIM115
    except OSError as error:
        raise RefusedError(f"the file cannot be read ({error.strerror})") from error
    with source, part.open("wb") as out:
        copyfileobj(source, out)
    return False


def _persist(url: str, part: Path, size: int | None, key: str) -> bool:
    """Transfer through cuts, giving up after ATTEMPTS in a row without progress."""
    attempt = 0
    while True:
        before = _size(part)
        try:
            return _transfer(url, part, size, key)
        except CutError as cut:
            attempt = 1 if _size(part) > before else attempt + 1
            if attempt == ATTEMPTS:
                raise
            pause = min(FIRST_WAIT_S * 2 ** (attempt - 1), LONGEST_WAIT_S)
            _say(f"{key}: {cut}; trying again in {pause:.0f} s")
            time.sleep(pause)


def _transfer(url: str, part: Path, size: int | None, key: str) -> bool:
    """Append to `part` what it lacks; True if it now holds pieces of several answers."""
    held = _size(part)
    # Without identity a server may compress on the way, and then no byte count means anything.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={held}-"} if held else {})
    timeouts = (CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
    try:
        with requests.get(url, headers=headers, stream=True, timeout=timeouts) as response:
            status = response.status_code
            if status == 416 and held:  # nothing is missing, or too much is there
                return True
            if status >= 500 or status in BUSY_STATUSES:
                raise CutError(f"the server answered {status} {response.reason}")
            if status not in (200, 206):
                raise RefusedError(f"the server answered {status} {response.reason}")
            start = held if status == 206 else 0
            length = response.headers.get("Content-Length", "")
            total = start + int(length) if length.isdigit() else size
            if not start and size is not None and total != size:
                raise RefusedError(f"the file has {total:,} bytes, expected {size:,} ({key}.bytes)")
            _append(response, part, start, total, key)
            return start > 0
    except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
        raise CutError(f"the connection failed ({_cause(error)})") from error
    except requests.RequestException as error:
        raise RefusedError(f"the request failed ({error})") from error


def _append(
    response: requests.Response, part: Path, start: int, total: int | None, key: str
) -> None:
    bar = tqdm(total=total, initial=start, desc=key, unit="B", unit_scale=True)
    with bar, part.open("ab" if start else "wb") as out:
        # read1 hands over what is there: a cut inside a chunk loses nothing of it
        while chunk := response.raw.read1(CHUNK_BYTES):
            out.write(chunk)
            bar.update(len(chunk))
        out.flush()
        os.fsync(out.fileno())


def _cause(error: BaseException) -> str:
    """The innermost reason: what requests itself prints is a page long."""
    if isinstance(error, IncompleteRead):
        return f"{error.expected:,} bytes are missing"
    inner = getattr(error, "reason", None) or (error.args[-1] if error.args else None)
    return _cause(inner) if isinstance(inner, BaseException) else str(error)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _say(message: str) -> None:
    tqdm.write(message, file=sys.stderr)  # keeps clear of a bar that is being drawn
