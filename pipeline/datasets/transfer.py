"""Transfer a file over HTTP into a partial file, which later attempts continue."""

import os
import ssl
import sys
import time
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import Any

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError, IncompleteRead

from actmodels.errors import printable
from pipeline.parameters.section import Fetched

ATTEMPTS = 5  # consecutive attempts without progress
FIRST_WAIT_S, MAX_WAIT_S = 1.0, 30.0  # the wait doubles with each attempt
TIMEOUTS_S = (15.0, 60.0)  # to connect; between bytes, because a slow server has not stalled
CHUNK_BYTES = 1 << 18
RETRY_STATUSES = (408, 425, 429)  # in addition to 5xx
CHECK_URL = "check its path or URL in params.yaml"
CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")  # the first that is set


class InterruptedTransferError(Exception):
    """The transfer stopped early; the partial file is kept for the next attempt."""


class RefusedError(Exception):
    """The URL does not provide the file, and a retry would not help; see the advice."""

    def __init__(self, problem: str, advice: str = CHECK_URL) -> None:
        super().__init__(f"{problem}; {advice}")


def transfer(url: str, part: Path, file: Fetched, key: str) -> tuple[bool, str]:
    """Complete `part`; give up after ATTEMPTS in a row without progress.

    Returns:
        whether it has bytes of several responses, and the name that the server gives the file.
    """
    attempt, certificates = 0, _certificates()
    while True:
        if file.sha256 is None:  # nothing would reveal pieces of two versions
            part.unlink(missing_ok=True)
        before = size_of(part)
        try:
            return _transfer(url, part, file.bytes, key, certificates)
        except InterruptedTransferError as error:
            resumes = file.sha256 is not None and size_of(part) > before
            attempt = 1 if resumes else attempt + 1
            if attempt == ATTEMPTS:
                raise
            pause = min(FIRST_WAIT_S * 2 ** (attempt - 1), MAX_WAIT_S)
            log(f"{key}: {error}; trying again in {pause:.0f} s")
            time.sleep(pause)


def _transfer(
    url: str, part: Path, size: int | None, key: str, certificates: str | bool
) -> tuple[bool, str]:
    """Append the missing bytes to `part`."""
    start = size_of(part)
    # Without identity, a server may compress the body, and byte counts would not match.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    settings: dict[str, Any] = {"timeout": TIMEOUTS_S, "verify": certificates}
    try:
        with requests.get(url, headers=headers, stream=True, **settings) as response:
            status = response.status_code
            if status == 416 and start:  # the file is complete or too long
                return True, ""
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
            return start > 0, _served_name(response.headers.get("Content-Disposition", ""))
    except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            advice = "set REQUESTS_CA_BUNDLE or SSL_CERT_FILE to the certificates of your network"
            raise RefusedError(f"no secure connection ({_cause(error)})", advice) from error
        raise InterruptedTransferError(f"the connection failed ({_cause(error)})") from error
    except requests.RequestException as error:
        raise RefusedError(f"the request failed ({error})") from error


def _certificates() -> str | bool:
    """Return the file or folder of certificates that the environment names, else True.

    Raises:
        RefusedError: it has no certificates; requests would report an error of the disk.
    """
    if (name := next(filter(os.environ.get, CERTIFICATES), None)) is None:
        return True
    path = os.environ[name]
    try:
        if not Path(path).is_dir():
            ssl.create_default_context(cafile=path)
    except OSError as error:  # also that of ssl
        problem = f"{name} is {path}, which has no certificates ({error.strerror})"
        raise RefusedError(problem, f"correct or unset {name}") from error
    return path


def _served_name(disposition: str) -> str:
    """Return the file name in Content-Disposition; empty without one."""
    message = Message()
    message["Content-Disposition"] = disposition
    name = PurePosixPath((message.get_filename() or "").replace("\\", "/")).name
    return "".join(filter(str.isprintable, name))[-100:]


def _cause(error: BaseException) -> str:
    """Return the innermost reason; the message of requests is a page long."""
    if isinstance(error, IncompleteRead):
        return f"{error.expected:,} bytes are missing"
    inner = getattr(error, "reason", None) or (error.args[-1] if error.args else None)
    return _cause(inner) if isinstance(inner, BaseException) else str(error)


def size_of(part: Path) -> int:
    """Return the size of a file, 0 if it is missing."""
    return part.stat().st_size if part.exists() else 0


def log(message: str) -> None:
    """Print a line without breaking an active progress bar."""
    tqdm.write(printable(message), file=sys.stderr)
