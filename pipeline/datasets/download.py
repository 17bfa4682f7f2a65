"""Locate a local file, or download one from the first mirror that has it.

Transferred bytes stay in a partial file, so a download resumes after a network error, a crash or a
kill. The digest of the complete file is verified. Without a digest, a local file is read in place,
an interrupted download starts again, and a complete one is kept until it is removed.
"""

import hashlib
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
from pipeline.runtime.stage import file_lock, project, state_folder

ATTEMPTS = 5  # consecutive attempts without progress
FIRST_WAIT_S, MAX_WAIT_S = 1.0, 30.0  # the wait doubles with each attempt
TIMEOUTS_S = (15.0, 60.0)  # to connect; between bytes, because a slow server has not stalled
CHUNK_BYTES = 1 << 18
RETRY_STATUSES = (408, 425, 429)  # in addition to 5xx
CHECK_URL = "check its path or URL in params.yaml"


class InterruptedTransferError(Exception):
    """The transfer stopped early; the partial file is kept for the next attempt."""


class RefusedError(Exception):
    """The URL does not provide the file, and a retry would not help."""


def locate(place: str, sha256: str | None, key: str) -> Path:
    """Return the path of a file: a local one in place, a remote one in the state folder.

    Args:
        place: a path from the project's folder, or a URL (https://, http:// or file:///).
        sha256: its digest; None prints the digest.

    Raises:
        DataError: the file cannot be read or downloaded, or has another digest.
    """
    if place.startswith(("https://", "http://")):
        return fetch(Fetched(urls=[place], sha256=sha256, bytes=None), key)
    local = (project() / place).absolute().as_uri()
    try:
        path = _local_path(place if place.startswith("file:///") else local)
        digest = file_digest(path)
    except (RefusedError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{key}: {place}: {reason}; {CHECK_URL}") from error
    if sha256 is None:
        _log(f"{key}: {path} has SHA-256 {digest}")
    elif digest != sha256:
        raise DataError(f"{key}: {path} has SHA-256 {digest}, expected {sha256} of params.yaml")
    return path


def fetch(file: Fetched, key: str) -> Path:
    """Return the path of a file in the state folder; download it unless a valid copy exists.

    Safe for concurrent processes: one downloads and the others wait. The name of the file has its
    digest (without one, the digest of its first URL) and the name in its first URL.

    Args:
        file: mirrors in order of preference (https://, http:// or file:///), and the digest.
        key: its section of params.yaml, such as "corpus.snli", for messages.

    Raises:
        DataError: no mirror provides a file with this digest, or the file cannot be written.
    """
    if file.sha256 is None and file.urls[0].startswith("file:///"):
        return locate(file.urls[0], None, key)
    store = state_folder() / "downloads"
    name = PurePosixPath(unquote(urlsplit(file.urls[0]).path)).name or "file"
    digest = file.sha256 or hashlib.sha256(file.urls[0].encode()).hexdigest()
    target = store / f"{digest[:16]}-{name}"
    part, lock = (target.with_name(target.name + end) for end in (".part", ".lock"))
    waiting = f"{key}: another process is fetching {target.name}; waiting for it"
    try:
        with file_lock(lock, lambda: _log(waiting)):
            if not target.exists() or file.sha256 not in (None, file_digest(target)):
                _try_mirrors(file, part, key)
                part.replace(target)
    except OSError as error:
        problem = f"cannot write to {error.filename or store} ({error.strerror or error})"
        advice = "fix this and run again (downloaded bytes are kept)"
        raise DataError(f"{key}: {problem}; {advice}") from error
    if file.sha256 is None:
        _log(f"{key}: {target} has SHA-256 {file_digest(target)}; remove it to fetch it again")
    return target


def _try_mirrors(file: Fetched, part: Path, key: str) -> None:
    problems: list[str] = []
    for url in file.urls:
        if problems:
            _log(f"{problems[-1]}; trying the next URL")
        try:
            return _download(url, file, part, key)
        except InterruptedTransferError as error:
            problem = f"{error}, {ATTEMPTS} times in a row; run again to resume"
        except RefusedError as error:
            problem = f"{error}; {CHECK_URL}"
        problems.append(f"{key}: {url}: {problem}")
    raise DataError("\n".join(problems))


def _download(url: str, file: Fetched, part: Path, key: str) -> None:
    """Complete `part` from one URL and verify it; an invalid file is removed."""
    for _ in range(2):
        if urlsplit(url).scheme == "file":
            resumed = False
            with _local_path(url).open("rb") as source, part.open("wb") as out:
                copyfileobj(source, out)
        else:
            resumed = _transfer_with_retries(url, part, file, key)
        digest, size = file_digest(part), _size(part)
        if file.sha256 in (None, digest):
            return
        part.unlink()
        if not resumed:
            break  # otherwise the pieces may be of two versions: restart once
    expected = f"expected {file.sha256} of params.yaml"
    raise RefusedError(f"{size:,} bytes came with SHA-256 {digest}, {expected}")


def _local_path(url: str) -> Path:
    """Return the path of a file URL; raise RefusedError unless it is a readable regular file."""
    address = urlsplit(url)
    if address.netloc not in ("", "localhost"):
        raise RefusedError(
            "not an absolute path; a file URL has three slashes: file:///folder/name"
        )
    path = Path(url2pathname(address.path))
    try:
        if path.exists() and not path.is_file():  # opening or reading a pipe may block
            raise RefusedError("it is a folder, a pipe or a device; expected a regular file")
        path.open("rb").close()
    except OSError as error:
        raise RefusedError(f"the file cannot be read ({error.strerror})") from error
    return path


def _transfer_with_retries(url: str, part: Path, file: Fetched, key: str) -> bool:
    """Call `_transfer` until it completes, or until ATTEMPTS in a row make no progress."""
    attempt = 0
    while True:
        if file.sha256 is None:  # nothing would reveal pieces of two versions
            part.unlink(missing_ok=True)
        before = _size(part)
        try:
            return _transfer(url, part, file.bytes, key)
        except InterruptedTransferError as error:
            resumes = file.sha256 is not None and _size(part) > before
            attempt = 1 if resumes else attempt + 1
            if attempt == ATTEMPTS:
                raise
            pause = min(FIRST_WAIT_S * 2 ** (attempt - 1), MAX_WAIT_S)
            _log(f"{key}: {error}; trying again in {pause:.0f} s")
            time.sleep(pause)


def _transfer(url: str, part: Path, size: int | None, key: str) -> bool:
    """Append the missing bytes to `part`; return True if it has bytes of several responses."""
    start = _size(part)
    # Without identity, a server may compress the body, and byte counts would not match.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUTS_S) as response:
            status = response.status_code
            if status == 416 and start:  # the file is complete or too long
                return True
            if status not in (200, 206):
                problem = f"the server answered {status} {response.reason}"
                retry = status >= 500 or status in RETRY_STATUSES
                raise InterruptedTransferError(problem) if retry else RefusedError(problem)
            start = start if status == 206 else 0
            length = response.headers.get("Content-Length", "")
            total = start + int(length) if length.isdigit() else size
            if not start and size is not None and total != size:
                raise RefusedError(f"the file has {total:,} bytes, expected {size:,} ({key}.bytes)")
            bar = tqdm(total=total, initial=start, desc=key, unit="B", unit_scale=True)
            with bar, part.open("ab" if start else "wb") as out:
                # read1 returns available bytes, so an interrupted chunk loses none
                while chunk := response.raw.read1(CHUNK_BYTES):
                    out.write(chunk)
                    bar.update(len(chunk))
                out.flush()
                os.fsync(out.fileno())
            return start > 0
    except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
        raise InterruptedTransferError(f"the connection failed ({_cause(error)})") from error
    except requests.RequestException as error:
        raise RefusedError(f"the request failed ({error})") from error


def _cause(error: BaseException) -> str:
    """Return the innermost reason; the message of requests is a page long."""
    if isinstance(error, IncompleteRead):
        return f"{error.expected:,} bytes are missing"
    inner = getattr(error, "reason", None) or (error.args[-1] if error.args else None)
    return _cause(inner) if isinstance(inner, BaseException) else str(error)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _log(message: str) -> None:
    tqdm.write(printable(message), file=sys.stderr)  # does not break an active progress bar
