"""Locate a local file, or download one from the first URL that has it.

Bytes go into a partial file, so a download resumes after a network error, a crash or a kill. The
digest of the complete file is verified. A local file is read in place. Without a digest, an
interrupted download starts again, and a complete one is kept until it is removed, except a web page
or a Git LFS pointer in place of the file.
"""

import hashlib
import re
import sys
import time
import zipfile
from collections.abc import Sequence
from glob import glob
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from tqdm import tqdm

from actmodels.errors import DataError, printable
from actmodels.files import file_digest
from pipeline.datasets.archive import foreign, open_member
from pipeline.parameters.section import Fetched, TextSource
from pipeline.runtime.stage import file_lock, project, state_folder

ATTEMPTS = 5  # consecutive attempts without progress
FIRST_WAIT_S, MAX_WAIT_S = 1.0, 30.0  # the wait doubles with each attempt
TIMEOUTS_S = (15.0, 60.0)  # to connect; between bytes, because a slow server has not stalled
CHUNK_BYTES = 1 << 18
RETRY_STATUSES = (408, 425, 429)  # in addition to 5xx
CHECK_URL = "check its path or URL in params.yaml"
REMOTE, LOCAL = (re.compile(scheme, re.I) for scheme in ("https?://", "file:///"))


class InterruptedTransferError(Exception):
    """The transfer stopped early; the partial file is kept for the next attempt."""


class RefusedError(Exception):
    """The place does not provide the file, and a retry would not help."""


def fetch(file: Fetched, key: str) -> Path:
    """Locate the file of a section of params.yaml; see locate."""
    return locate(file.urls, file.sha256, key, file.bytes)


def locate(places: Sequence[str], sha256: str | None, key: str, size: int | None = None) -> Path:
    """Return the path of a file: a local one in place, a downloaded one in the state folder.

    Safe for concurrent processes: one downloads and the others wait. The copy is named by the
    digest (without one, that of the first place) and the name in the first place.

    Args:
        places: tried in order: paths from the project's folder, or URLs (https, http, file:///).
        sha256: its digest; None prints the digest.
        key: its section of params.yaml, such as "corpus.snli", for messages.
        size: in bytes, for the progress bar if the server sends no length.

    Raises:
        DataError: no place has the file with this digest, or the copy cannot be written.
    """
    name = PurePosixPath(unquote(urlsplit(places[0]).path)).name or "file"
    prefix = (sha256 or hashlib.sha256(places[0].encode()).hexdigest())[:16]
    target, problems = state_folder() / "downloads" / f"{prefix}-{name}", list[str]()
    for place in places:
        if problems:
            _log(f"{problems[-1]}; trying the next URL")
        try:
            if REMOTE.match(place):
                path, note = target, f"a copy of {place} (remove it to fetch it again), "
                _download(place, target, sha256, key, size)
            else:
                path, note = local_path(place), ""
                place = place if "://" in place else str(path)
                if problem := _problem(path, sha256):
                    raise RefusedError(problem)
        except InterruptedTransferError as error:
            problem = f"{error}, {ATTEMPTS} times in a row; run again to resume"
        except (RefusedError, RuntimeError) as error:  # RuntimeError: no home of that name
            problem = str(error)
        else:
            if sha256 is None:
                _log(f"{key}: {path}: {note}SHA-256 {file_digest(path)}")
            return path
        problems.append(f"{key}: {place}: {problem}")
    raise DataError("\n".join(problems))


def _problem(path: Path, sha256: str | None) -> str:
    """Return why this is not the file: another digest, or other content in its place; else ""."""
    try:
        if path.exists() and not path.is_file():  # opening or reading a pipe may block
            return "it is a folder, a pipe or a device; expected a regular file"
        with path.open("rb") as file:
            kind, advice = foreign(file.read(1000)) or ("", CHECK_URL)
        digest = sha256 and file_digest(path)
    except OSError as error:
        return f"the file cannot be read ({error.strerror}); {CHECK_URL}"
    if digest != sha256:
        problem = f"{_size(path):,} bytes with SHA-256 {digest}, expected {sha256} of params.yaml"
        return f"{problem} ({kind}); {advice}" if kind else f"{problem}; {advice}"
    return f"{kind}, not the file; {advice}" if kind and sha256 is None else ""


def _download(url: str, target: Path, sha256: str | None, key: str, size: int | None) -> None:
    """Download a file, unless a valid copy exists; an invalid one is replaced."""
    part, lock = (target.with_name(target.name + end) for end in (".part", ".lock"))
    waiting = f"{key}: another process is fetching {target.name}; waiting for it"
    try:
        with file_lock(lock, lambda: _log(waiting)):
            if not _problem(target, sha256):
                return
            resumed = _persist(url, part, sha256, key, size)
            if resumed and _problem(part, sha256):  # perhaps pieces of two versions
                part.unlink()
                _persist(url, part, sha256, key, size)
            if problem := _problem(part, sha256):
                part.unlink()
                raise RefusedError(problem)
            part.replace(target)
    except OSError as error:
        problem = f"cannot write to {error.filename or target.parent} ({error.strerror or error})"
        advice = "fix this and run again (downloaded bytes are kept)"
        raise DataError(f"{key}: {problem}; {advice}") from error


def _persist(url: str, part: Path, sha256: str | None, key: str, size: int | None) -> bool:
    """Transfer until `part` is complete, or ATTEMPTS in a row make no progress."""
    attempt = 0
    while True:
        if sha256 is None:  # nothing would reveal pieces of two versions
            part.unlink(missing_ok=True)
        before = _size(part)
        try:
            return _transfer(url, part, size, key)
        except InterruptedTransferError as error:
            progress = sha256 is not None and _size(part) > before
            attempt = 1 if progress else attempt + 1
            if attempt == ATTEMPTS:
                raise
            pause = min(FIRST_WAIT_S * 2 ** (attempt - 1), MAX_WAIT_S)
            _log(f"{key}: {error}; trying again in {pause:.0f} s")
            time.sleep(pause)


def _transfer(url: str, part: Path, size: int | None, key: str) -> bool:
    """Append the missing bytes to `part`; return whether it has bytes of several responses."""
    import requests  # takes a tenth of a second, and most runs download nothing
    from urllib3.exceptions import HTTPError

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
                if status >= 500 or status in RETRY_STATUSES:
                    raise InterruptedTransferError(problem)
                raise RefusedError(f"{problem}; {CHECK_URL}")
            start = start if status == 206 else 0
            length = response.headers.get("Content-Length", "")
            total = start + int(length) if length.isdigit() else size
            bar = tqdm(total=total, initial=start, desc=key, unit="B", unit_scale=True)
            with bar, part.open("ab" if start else "wb") as out:
                # read1 returns available bytes, so an interrupted chunk loses none
                while chunk := response.raw.read1(CHUNK_BYTES):
                    bar.update(out.write(chunk))
            return start > 0
    except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
        if isinstance(error, requests.exceptions.SSLError):
            advice = "set REQUESTS_CA_BUNDLE to the certificates of your network"
            raise RefusedError(f"no secure connection ({_cause(error)}); {advice}") from error
        raise InterruptedTransferError(f"the connection failed ({_cause(error)})") from error
    except requests.RequestException as error:
        raise RefusedError(f"the request failed ({error}); {CHECK_URL}") from error


def _cause(error: BaseException) -> str:
    """Return the innermost reason; the message of requests is a page long."""
    inner = getattr(error, "reason", None) or (error.args[-1] if error.args else None)
    return _cause(inner) if isinstance(inner, BaseException) else str(error)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _log(message: str) -> None:
    """Print a line without breaking an active progress bar."""
    tqdm.write(printable(message), file=sys.stderr)


def local_path(place: str) -> Path:
    """Return the absolute path of a path from the project's folder, or of a file:/// URL."""
    if LOCAL.match(place):
        return Path(url2pathname(urlsplit(place).path))
    return (project() / (Path(place).expanduser() if place.startswith("~/") else place)).absolute()


def matches(place: str) -> list[str]:
    """Return the files that a glob matches, sorted; none for a path that exists, or a URL."""
    if "://" in place or (local := local_path(place)).exists():
        return []
    return sorted(glob(str(local)))  # noqa: PTH207  (a**b)


def fetch_text(source: TextSource, key: str) -> bytes:
    """Return the bytes of a text, unchanged.

    Args:
        key: of the source in params.yaml, for messages.

    Raises:
        DataError: the text is empty, its archive lacks a member, or no member is configured.
    """
    path, text = fetch(source, key), b""
    if not source.members:
        if zipfile.is_zipfile(path):
            raise DataError(f"{key}: {path} is a zip archive; name files of it in {key}.members")
        text = path.read_bytes()
    for member in source.members:  # each starts on a new line
        with open_member(path, member, key) as (stream, _):
            text += (b"" if text.endswith(b"\n") or not text else b"\n") + stream.read()
    if not text:
        raise DataError(f"{key}: the text is empty; expected at least one byte")
    return text
