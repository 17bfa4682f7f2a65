"""Files in a folder or an object store, with atomic writes, checksums and retries."""

import errno
import functools
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, cast

from actmodels.errors import SweepError, shown
from actmodels.files import CorruptError, add_checksum, replacing, verify_checksum

NAME = b"\nname "
FULL = re.compile(r"No space left|storage ?full|quota|HTTP status 507", re.IGNORECASE)
# Temporary errors of pyarrow's object stores have no errno: AWS error classes, gRPC codes.
UNREACHABLE = re.compile(
    r"NETWORK_CONNECTION|SLOW_DOWN|THROTTLING|REQUEST_TIMEOUT|INTERNAL_FAILURE|UNAVAILABLE"
    r"|DEADLINE_EXCEEDED|curlCode|HTTP status (429|50[0234])"
)
UNREACHABLE_ERRNO = {
    *(errno.ETIMEDOUT, errno.ECONNREFUSED, errno.ECONNRESET, errno.ENETUNREACH),
    *(errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ENOTCONN, errno.ESTALE),
}
Method = TypeVar("Method", bound=Callable[..., Any])


def is_full(error: OSError) -> bool:
    """Return whether the storage has no space left."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or bool(FULL.search(str(error)))


def is_unreachable(error: OSError) -> bool:
    """Return whether the storage is temporarily unreachable, so that a retry may succeed."""
    return error.errno in UNREACHABLE_ERRNO or bool(UNREACHABLE.search(str(error)))


@contextmanager
def storage_errors(storage: "Storage") -> Iterator[None]:
    """Turn the OSError of a full or unreachable storage into a SweepError for the user."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            problem = "is full; make room there"
        elif is_unreachable(error):
            problem = f"cannot be reached ({str(error).splitlines()[0][:200]}); check its server"
        else:
            raise
        raise SweepError(
            f"{storage.location} {problem}; nothing is lost: run the same command again to resume"
        ) from error


def retried(method: Method) -> Method:
    """Retry a call with exponential backoff while the storage is unreachable."""

    @functools.wraps(method)
    def retry(self: "Storage", *args: Any) -> Any:
        end, pause = time.monotonic() + self.retry_seconds, 0.5
        while True:
            try:
                return method(self, *args)
            except OSError as error:
                if not is_unreachable(error) or time.monotonic() + pause > end:
                    raise
                if pause == 0.5:
                    note = f"{self.location} does not answer; retrying for {self.retry_seconds:g} s"
                    print(note, file=sys.stderr, flush=True)
            time.sleep(pause)
            pause = min(2 * pause, 10.0)

    return cast(Method, retry)


@dataclass(frozen=True)
class Storage:
    """A folder, by its absolute path; file names may contain subfolders.

    retry_seconds: how long a call is retried while the storage is unreachable.
    """

    location: str
    retry_seconds: float = 0.0

    def full_name(self, name: str) -> str:
        """Return a file's path or URL, for messages."""
        return f"{self.location}/{name}"

    def make(self) -> None:
        """Create the folder."""
        Path(self.location).mkdir(parents=True, exist_ok=True)

    @retried
    def read(self, name: str) -> bytes:
        """Read a file; raise FileNotFoundError if it is missing, CorruptError for a folder."""
        try:
            return Path(self.location, name).read_bytes()
        except IsADirectoryError as error:
            raise CorruptError(f"{self.full_name(name)} is corrupt: it is a folder") from error

    @retried
    def write(self, name: str, content: bytes | memoryview) -> None:
        """Create or replace a file atomically."""
        if not Path(self.location).is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder", self.location)
        path = Path(self.location, name)
        if path.is_dir():  # which no file can replace
            self.quarantine(name)
        with replacing(path) as temporary:
            temporary.write_bytes(content)

    @retried
    def exists(self, name: str) -> bool:
        """Return whether the file exists."""
        return Path(self.location, name).exists()

    @retried
    def remove(self, name: str) -> None:
        """Delete a file if it exists."""
        Path(self.location, name).unlink(missing_ok=True)

    @retried
    def rename(self, name: str, new: str) -> None:
        """Rename a file, replacing any file of the new name."""
        Path(self.location, name).replace(Path(self.location, new))

    @retried
    def files(self, folder: str = "") -> list[tuple[str, int, float]]:
        """Return name, bytes and Unix time of the last write of each file, not of subfolders.

        folder: the subfolder to list, such as "stopped/", which the names begin with.
        """
        if not (place := Path(self.location, folder)).is_dir():
            return []
        files = (path for path in place.iterdir() if path.is_file())
        stats = ((f"{folder}{path.name}", path.stat()) for path in files)
        return [(name, stat.st_size, stat.st_mtime) for name, stat in stats]

    def read_checked(self, name: str) -> bytes:
        """Read a file of `write_checked`; raise CorruptError if the checksum does not match."""
        return verify_checksum(self.read(name), self.full_name(name))

    def write_checked(self, name: str, content: bytes | memoryview) -> None:
        """Write a file with its checksum."""
        self.write(name, add_checksum(content))

    def read_named(self, name: str) -> bytes:
        """Read a file of `write_named`; raise CorruptError if it is a copy of another file."""
        content, mark, stored = self.read_checked(name).rpartition(NAME)
        if not mark or stored != name.encode():
            other = shown(stored.decode(errors="replace")) if mark else "a file with no name"
            raise CorruptError(f"{self.full_name(name)} has the content of {other}")
        return content

    def write_named(self, name: str, content: bytes | memoryview) -> None:
        """Write a file with its name and its checksum."""
        self.write_checked(name, b"".join([content, NAME, name.encode()]))

    def read_json(self, name: str, is_valid: Callable[[Any], bool]) -> Any:
        """Read JSON of `write_named`; raise CorruptError also if the value is not valid."""
        with suppress(ValueError, TypeError, LookupError, RecursionError):  # also of is_valid
            if is_valid(value := json.loads(self.read_named(name))):
                return value
        raise CorruptError(f"{self.full_name(name)} is corrupt: its JSON has other content")

    @contextmanager
    def quarantining(self, name: str, notes: list[str], consequence: str) -> Iterator[None]:
        """Quarantine a file that the block finds corrupt, and add a note for the user."""
        try:
            yield
        except CorruptError as error:
            notes.append(f"{error}; quarantined as {self.quarantine(name)}, {consequence}")

    def quarantine(self, name: str) -> str:
        """Rename a corrupt file to the first free NAME.corrupt…; return that without folders."""
        names = (f"{name}.corrupt{number or ''}" for number in count())
        new_name = next(new for new in names if not self.exists(new))
        self.rename(name, new_name)
        return Path(new_name).name


class Bucket(Storage):
    """The URL of an object store, whose writes are atomic."""

    @cached_property
    def opened(self) -> tuple[Any, str]:
        """The pyarrow file system and the path in it, once per process."""
        from pyarrow import fs  # a dependency of Ray; a folder does not need it

        return fs.FileSystem.from_uri(self.location)

    def __getstate__(self) -> dict[str, Any]:
        return {"location": self.location, "retry_seconds": self.retry_seconds}

    def _path(self, name: str) -> str:
        return f"{self.opened[1]}/{name}"

    def make(self) -> None:
        """Do nothing: a bucket must exist."""

    @retried
    def read(self, name: str) -> bytes:
        with self.opened[0].open_input_stream(self._path(name)) as stream:
            return bytes(stream.read())

    @retried
    def write(self, name: str, content: bytes | memoryview) -> None:
        with self.opened[0].open_output_stream(self._path(name)) as stream:
            stream.write(content)

    @retried
    def exists(self, name: str) -> bool:
        return bool(self.opened[0].get_file_info(self._path(name)).is_file)

    @retried
    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self.opened[0].delete_file(self._path(name))

    @retried
    def rename(self, name: str, new: str) -> None:
        self.opened[0].move(self._path(name), self._path(new))

    @retried
    def files(self, folder: str = "") -> list[tuple[str, int, float]]:
        from pyarrow import fs

        place = self._path(folder).rstrip("/")
        infos = self.opened[0].get_file_info(fs.FileSelector(place, allow_not_found=True))
        files = [info for info in infos if info.is_file]
        return [(f"{folder}{info.base_name}", info.size, info.mtime_ns / 1e9) for info in files]


def storage(
    location: str | Path, key: str = "cluster.storage", *, retry_seconds: float = 0.0
) -> Storage:
    """Return the storage at a folder or URL; a SweepError names the setting `key`."""
    path = str(location).removeprefix("file://")
    if "://" not in path:
        return Storage(str(Path(path).absolute()), retry_seconds)
    bucket = Bucket(str(location).rstrip("/"), retry_seconds)
    try:
        assert bucket.opened
    except (OSError, ValueError) as error:
        raise _unusable(bucket, key, error) from error
    return bucket


def prepare(place: Storage, key: str) -> None:
    """Create a storage and check that this machine can write to it; else raise SweepError."""
    try:
        place.make()
        place.write(".written", b"")
        place.remove(".written")
    except (OSError, ValueError) as error:
        raise _unusable(place, key, error) from error


def _unusable(place: Storage, key: str, error: Exception) -> SweepError:
    problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SweepError(
        f"{key} is {place.location}, which cannot be used: {problem.splitlines()[0]}; expected "
        "a folder, or an s3:// or gs:// URL, that this machine may read and write"
    )
