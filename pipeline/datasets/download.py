"""Locate a local file, or download one from the first mirror that has it.

Transferred bytes stay in a partial file, so a download resumes after a network error, a crash or a
kill. The digest of the complete file is verified. Without a digest, a local file is read in place,
an interrupted download starts again, and a complete one is kept until it is removed, except a web
page or a Git LFS pointer in place of the file.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from urllib.parse import unquote, urlsplit

from actmodels.errors import DataError
from actmodels.files import file_digest
from pipeline.datasets.formats import foreign
from pipeline.datasets.places import LOCAL, REMOTE, local_path
from pipeline.datasets.transfer import (
    ATTEMPTS,
    CHECK_URL,
    InterruptedTransferError,
    RefusedError,
    log,
    size_of,
    transfer,
)
from pipeline.parameters.section import Fetched
from pipeline.runtime.stage import file_lock, state_folder

_copies: dict[Path, str] = {}  # downloads without a digest in this process, and their URLs


@contextmanager
def naming_urls() -> Iterator[None]:
    """Add to an error that names a downloaded copy its URL, and how to fetch it again."""
    try:
        yield
    except DataError as error:
        for path, url in _copies.items():
            if str(path) in str(error):
                problem = f"{path} is a copy of {url}; remove the copy to fetch it again"
                raise DataError(f"{error}\n{problem}") from error
        raise


def locate(place: str, sha256: str | None, key: str) -> Path:
    """Return the path of a file: a local one in place, a remote one in the state folder.

    Args:
        place: a path from the project's folder, or a URL (https://, http:// or file:///).
        sha256: its digest; None prints the digest.

    Raises:
        DataError: the file cannot be read or downloaded, has another digest, or is a web page.
    """
    if REMOTE.match(place):
        return fetch(Fetched(urls=[place], sha256=sha256, bytes=None), key)
    try:
        path = local_path(place)
        place = place if LOCAL.match(place) else str(path)
        _verify(_readable(path), sha256)
    except (RefusedError, OSError, RuntimeError) as error:  # RuntimeError: no home of that name
        raise DataError(f"{key}: {place}: {getattr(error, 'strerror', None) or error}") from error
    if sha256 is None:
        log(f"{key}: {path} has SHA-256 {file_digest(path)}")
    return path


def fetch(file: Fetched, key: str) -> Path:
    """Return the path of a file in the state folder; download it unless a valid copy exists.

    Safe for concurrent processes: one downloads and the others wait. The name of the copy has the
    digest (without one, the digest of its first URL) and the name in its first URL, or that of the
    server if the URL's has no suffix. Without a digest, a local file is read in place.

    Args:
        file: mirrors in order of preference (https://, http:// or file:///), and the digest.
        key: its section of params.yaml, such as "corpus.snli", for messages.

    Raises:
        DataError: no mirror provides a file with this digest, or the file cannot be written.
    """
    urls, problems = list(file.urls), list[str]()
    while file.sha256 is None and urls and LOCAL.match(urls[0]):
        try:
            return locate(urls.pop(0), None, key)
        except DataError as error:
            problems.append(str(error))
    if not urls:
        raise DataError("\n".join(problems))
    store = state_folder() / "downloads"
    name = PurePosixPath(unquote(urlsplit(urls[0]).path)).name or "file"
    prefix = (file.sha256 or hashlib.sha256(urls[0].encode()).hexdigest())[:16]
    target = store / f"{prefix}-{name}"
    part, lock = (target.with_name(target.name + end) for end in (".part", ".lock"))
    waiting = f"{key}: another process is fetching {target.name}; waiting for it"
    try:
        with file_lock(lock, lambda: log(waiting)):
            if nameless := not target.suffix:
                copies = (path for path in store.glob(f"{prefix}-*") if path not in (part, lock))
                target = next(copies, target)
            if not _is_valid(target, file.sha256):
                served = _try_mirrors(urls, file, part, key, problems)
                target = store / f"{prefix}-{served}" if nameless and served else target
                part.replace(target)
    except OSError as error:
        problem = f"cannot write to {error.filename or store} ({error.strerror or error})"
        advice = "fix this and run again (downloaded bytes are kept)"
        raise DataError(f"{key}: {problem}; {advice}") from error
    if file.sha256 is None:
        _copies[target] = urls[0]
        log(f"{key}: {target} has SHA-256 {file_digest(target)}; remove it to fetch it again")
    return target


def _verify(path: Path, sha256: str | None) -> None:
    """Raise RefusedError for another digest; without one, for content in place of a file."""
    with path.open("rb") as file:
        head = file.read(1000)
    kind, advice = foreign(head) or ("", CHECK_URL)
    if sha256 is not None and (digest := file_digest(path)) != sha256:
        problem = f"{size_of(path):,} bytes with SHA-256 {digest}, expected {sha256} of params.yaml"
        raise RefusedError(f"{problem} ({kind})" if kind else problem, advice)
    if sha256 is None and kind:
        raise RefusedError(f"{kind}, not the file", advice)


def _is_valid(path: Path, sha256: str | None) -> bool:
    try:
        _verify(path, sha256)
        return True
    except (RefusedError, FileNotFoundError):
        return False


def _try_mirrors(urls: list[str], file: Fetched, part: Path, key: str, problems: list[str]) -> str:
    """Complete `part` from the first URL that has the file; return the name that it came with."""
    for url in urls:
        if problems:
            log(f"{problems[-1]}; trying the next URL")
        try:
            return _download(url, file, part, key)
        except InterruptedTransferError as error:
            problem = f"{error}, {ATTEMPTS} times in a row; run again to resume"
        except RefusedError as error:
            problem = str(error)
        problems.append(f"{key}: {url}: {problem}")
    raise DataError("\n".join(problems))


def _download(url: str, file: Fetched, part: Path, key: str) -> str:
    """Complete `part` from one URL and verify it; an invalid file is removed."""
    for again in (True, False):
        resumed, served = False, ""
        if LOCAL.match(url):
            with _readable(local_path(url)).open("rb") as source, part.open("wb") as out:
                copyfileobj(source, out)
        else:
            resumed, served = transfer(url, part, file, key)
        try:
            _verify(part, file.sha256)
            break
        except RefusedError:
            part.unlink()
            if not (resumed and again):  # the pieces may be of two versions: restart once
                raise
    return served


def _readable(path: Path) -> Path:
    """Return a path; raise RefusedError unless it is a readable regular file."""
    try:
        if path.exists() and not path.is_file():  # opening or reading a pipe may block
            raise RefusedError("it is a folder, a pipe or a device; expected a regular file")
        path.open("rb").close()
    except OSError as error:
        raise RefusedError(f"the file cannot be read ({error.strerror})") from error
    return path
