"""Fetch a file that is known by its SHA-256, from the first of several mirrors that has it.

Whatever came stays in a partial file, so an attempt cut by the network, a crash or a kill goes
on where it stopped; the digest of the whole decides at the end.
"""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from filelock import FileLock, Timeout
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
)
from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.sources.transfer import CHUNK_BYTES, CutError, RefusedError, etag_file, transfer

ATTEMPTS = 5  # in a row without one new byte
FIRST_WAIT_S = 1.0  # doubles with every attempt
LONGEST_WAIT_S = 30.0


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
        DataError: no mirror gave a file with this digest, or the disk is full.
    """
    name = PurePosixPath(unquote(urlsplit(urls[0]).path)).name or "file"
    target = store / f"{sha256[:16]}-{name}"
    try:
        store.mkdir(parents=True, exist_ok=True)
        with _alone(target, key):
            if not target.exists() or _digest(target, key) != sha256:
                target.unlink(missing_ok=True)
                _from_mirrors(urls, sha256, size, target, key)
    except OSError as error:
        raise DataError(f"{key}: cannot use {store} for downloads: {error}") from error
    return target


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
            etag_file(part).unlink(missing_ok=True)
            return
    raise DataError("\n".join(problems))


def _from_url(url: str, sha256: str, size: int | None, part: Path, key: str) -> None:
    """Complete `part` from one URL and check it; a part that fails the check is removed."""
    for last in (False, True):
        pieced = _persist(url, part, size, key)
        found = _digest(part, key)
        if found == sha256:
            return
        held = part.stat().st_size
        part.unlink()
        etag_file(part).unlink(missing_ok=True)
        if not pieced or last:
            break  # else the pieces may be of two versions: once more, from the start
    raise RefusedError(
        f"{held:,} bytes came with SHA-256 {found}, expected {sha256} ({key}.sha256)"
    )


def _persist(url: str, part: Path, size: int | None, key: str) -> bool:
    """Transfer through cuts, giving up after ATTEMPTS in a row without progress."""

    def announce(state: RetryCallState) -> None:
        problem = state.outcome.exception() if state.outcome else None
        pause = state.next_action.sleep if state.next_action else 0
        _say(f"{key}: {problem}; trying again in {pause:.0f} s")

    while True:
        before = _size(part)
        retrying = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(multiplier=FIRST_WAIT_S, max=LONGEST_WAIT_S),
            retry=retry_if_exception_type(CutError),
            before_sleep=announce,
            reraise=True,
        )
        try:
            return retrying(transfer, url, part, size, key)
        except CutError:
            if _size(part) <= before:
                raise


def _say(message: str) -> None:
    tqdm.write(message, file=sys.stderr)  # keeps clear of a bar that is being drawn


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _digest(path: Path, label: str) -> str:
    digest = hashlib.sha256()
    bar = tqdm(
        total=path.stat().st_size, desc=f"{label} digest", unit="B", unit_scale=True, delay=1
    )
    with bar, path.open("rb") as content:
        while chunk := content.read(CHUNK_BYTES):
            digest.update(chunk)
            bar.update(len(chunk))
    return digest.hexdigest()
