"""Fetch a file that is known by its SHA-256, from the first of several mirrors that has it.

Whatever came stays in a partial file, so an attempt cut by the network, a crash or a kill goes
on where it stopped; the digest of the whole decides at the end.
"""

import os
import sys
import time
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError, IncompleteRead

from actmodels.errors import DataError, printable
from actmodels.files import file_digest
from pipeline.parameters.section import Fetched
from pipeline.runtime.stage import file_lock, state_folder

ATTEMPTS = 5  # in a row without one new byte
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 30.0  # the first doubles with every attempt
TIMEOUTS_S = (15.0, 60.0)  # to connect, and without one byte: a slow server is not a stalled one
CHUNK_BYTES = 1 << 18
BUSY_STATUSES = (408, 425, 429)  # worth another try, as every 5xx is


class CutError(Exception):
    """The transfer stopped early; what came is kept, and another attempt goes on from there."""


class RefusedError(Exception):
    """The URL does not give the file, and asking again would not help."""


def fetch(file: Fetched, key: str) -> Path:
    """The path of a file in the state folder, fetched unless a good copy is there already.

    Safe to call from several processes: one fetches and the others wait for it. The file is named
    by its digest and its first URL.

    Args:
        file: with mirrors in order of preference; https://, http:// or file:///.
        key: its section of params.yaml, such as "corpus.snli", for messages.

    Raises:
        DataError: no mirror gave a file with this digest, or it cannot be written.
    """
    store = state_folder() / "downloads"
    name = PurePosixPath(unquote(urlsplit(file.urls[0]).path)).name or "file"
    target = store / f"{file.sha256[:16]}-{name}"
    part, lock = (target.with_name(target.name + end) for end in (".part", ".lock"))
    waiting = f"{key}: another process is fetching {target.name}; waiting for it"
    try:
        with file_lock(lock, lambda: _say(waiting)):
            if not target.exists() or file_digest(target) != file.sha256:
                _from_mirrors(file, part, key)
                part.replace(target)
    except OSError as error:
        problem = f"cannot write to {error.filename or store} ({error.strerror or error})"
        advice = "mend that and run again (what already came is kept)"
        raise DataError(f"{key}: {problem}; {advice}") from error
    return target


def _from_mirrors(file: Fetched, part: Path, key: str) -> None:
    problems: list[str] = []
    for url in file.urls:
        if problems:
            _say(f"{problems[-1]}; trying the next URL")
        try:
            return _from_url(url, file, part, key)
        except CutError as cut:
            problems.append(f"{key}: {url}: {cut}, {ATTEMPTS} times in a row; run again to go on")
        except RefusedError as refusal:
            problems.append(f"{key}: {url}: {refusal}; check {key}.urls in params.yaml")
    raise DataError("\n".join(problems))


def _from_url(url: str, file: Fetched, part: Path, key: str) -> None:
    """Complete `part` from one URL and check it; a part that fails the check is removed."""
    for _ in range(2):
        if urlsplit(url).scheme == "file":
            pieced = _copy(url, part)
        else:
            pieced = _persist(url, part, file.bytes, key)
        found, held = file_digest(part), _size(part)
        if found == file.sha256:
            return
        part.unlink()
        if not pieced:
            break  # else its pieces may be of two versions: once more, from the start
    expected = f"expected {file.sha256} ({key}.sha256)"
    raise RefusedError(f"{held:,} bytes came with SHA-256 {found}, {expected}")


def _copy(url: str, part: Path) -> bool:
    """Copy a file of this machine; False, as it is never pieced together."""
    address = urlsplit(url)
    if address.netloc not in ("", "localhost"):
        raise RefusedError("no absolute path; a file URL has three slashes: file:///folder/name")
    path = Path(url2pathname(address.path))
    try:
        if path.exists() and not path.is_file():  # a pipe may have no end, and no writer
            raise RefusedError("it is a folder, a pipe or a device; expected a regular file")
        source = path.open("rb")
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
    try:
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUTS_S) as response:
            status = response.status_code
            if status == 416 and held:  # nothing is missing, or too much is there
                return True
            if status not in (200, 206):
                busy = status >= 500 or status in BUSY_STATUSES
                problem = f"the server answered {status} {response.reason}"
                raise CutError(problem) if busy else RefusedError(problem)
            start = held if status == 206 else 0
            length = response.headers.get("Content-Length", "")
            total = start + int(length) if length.isdigit() else size
            if not start and size is not None and total != size:
                raise RefusedError(f"the file has {total:,} bytes, expected {size:,} ({key}.bytes)")
            bar = tqdm(total=total, initial=start, desc=key, unit="B", unit_scale=True)
            with bar, part.open("ab" if start else "wb") as out:
                # read1 hands over what is there: a cut inside a chunk loses nothing of it
                while chunk := response.raw.read1(CHUNK_BYTES):
                    out.write(chunk)
                    bar.update(len(chunk))
                out.flush()
                os.fsync(out.fileno())
            return start > 0
    except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
        raise CutError(f"the connection failed ({_cause(error)})") from error
    except requests.RequestException as error:
        raise RefusedError(f"the request failed ({error})") from error


def _cause(error: BaseException) -> str:
    """The innermost reason: what requests itself prints is a page long."""
    if isinstance(error, IncompleteRead):
        return f"{error.expected:,} bytes are missing"
    inner = getattr(error, "reason", None) or (error.args[-1] if error.args else None)
    return _cause(inner) if isinstance(inner, BaseException) else str(error)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _say(message: str) -> None:
    tqdm.write(printable(message), file=sys.stderr)  # keeps clear of a bar that is being drawn
