"""Files under one folder or URL: each appears whole or not at all, and damage is named."""

import errno
import functools
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
from actmodels.files import DamagedError, add_checksum, replacing, verify_checksum

NAME = b"\nname "
FULL = re.compile(r"No space left|storage ?full|quota|HTTP status 507", re.IGNORECASE)
# What pyarrow's object stores raise for a while has no errno: classes of AWS, codes of gRPC.
AWAY = re.compile(
    r"NETWORK_CONNECTION|SLOW_DOWN|THROTTLING|REQUEST_TIMEOUT|INTERNAL_FAILURE|UNAVAILABLE"
    r"|DEADLINE_EXCEEDED|curlCode|HTTP status (429|50[0234])"
)
AWAY_ERRNO = {
    *(errno.ETIMEDOUT, errno.ECONNREFUSED, errno.ECONNRESET, errno.ENETUNREACH),
    *(errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ENOTCONN, errno.ESTALE),
}
Method = TypeVar("Method", bound=Callable[..., Any])


def is_full(error: OSError) -> bool:
    """Return whether a store has no space left."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or bool(FULL.search(str(error)))


def is_away(error: OSError) -> bool:
    """Return whether a store cannot be reached for now, so that a later call may succeed."""
    return error.errno in AWAY_ERRNO or bool(AWAY.search(str(error)))


@contextmanager
def usable(place: "Storage") -> Iterator[None]:
    """Raise a SweepError of one sentence where a store is full or stays away."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            problem = "is full; make room there"
        elif is_away(error):
            problem = f"cannot be reached ({str(error).splitlines()[0][:200]}); check its server"
        else:
            raise
        raise SweepError(
            f"{place.place} {problem}; nothing is lost: run the same command again to go on"
        ) from error


def patient(method: Method) -> Method:
    """Repeat a call with growing pauses while the store is away, for `patience` seconds."""

    @functools.wraps(method)
    def repeated(self: "Storage", *args: Any) -> Any:
        end, pause = time.monotonic() + self.patience, 0.5
        while True:
            try:
                return method(self, *args)
            except OSError as error:
                if not is_away(error) or time.monotonic() + pause > end:
                    raise
                if pause == 0.5:
                    note = f"{self.place} does not answer; trying for {self.patience:g} s"
                    print(note, file=sys.stderr, flush=True)
            time.sleep(pause)
            pause = min(2 * pause, 10.0)

    return cast(Method, repeated)


@dataclass(frozen=True)
class Storage:
    """Files in a folder of this machine, or of a file system that several machines mount.

    Names are relative, with slashes. All methods raise OSError where the place cannot be reached.
    Nothing but `make` makes the folder itself: a mount may be missing.

    Args:
        place: absolute path of a folder, or a URL.
        patience: seconds for which a call is repeated while the place is away.
    """

    place: str
    patience: float = 0.0

    def where(self, name: str) -> str:
        """A file's whole name, for messages."""
        return f"{self.place}/{name}"

    def make(self) -> None:
        """Make the place itself; a bucket must be there."""
        Path(self.place).mkdir(parents=True, exist_ok=True)

    @patient
    def read(self, name: str) -> bytes:
        """Read a file; FileNotFoundError without it, DamagedError for a folder in its place."""
        try:
            return Path(self.place, name).read_bytes()
        except IsADirectoryError as error:
            raise DamagedError(f"{self.where(name)} is damaged: it is a folder") from error

    @patient
    def write(self, name: str, content: bytes | memoryview) -> None:
        """Put a file in place of what was there."""
        if not Path(self.place).is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder", self.place)
        path = Path(self.place, name)
        if path.is_dir():  # which no file can replace
            self.quarantine(name)
        with replacing(path) as temporary:
            temporary.write_bytes(content)

    @patient
    def holds(self, name: str) -> bool:
        """Return whether there is such a file."""
        return Path(self.place, name).exists()

    @patient
    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        Path(self.place, name).unlink(missing_ok=True)

    @patient
    def rename(self, name: str, new: str) -> None:
        """Give a file another name, in place of an earlier one."""
        Path(self.place, name).replace(Path(self.place, new))

    def read_checked(self, name: str) -> bytes:
        """Read what `write_checked` wrote; DamagedError for anything else."""
        return verify_checksum(self.read(name), self.where(name))

    def write_checked(self, name: str, content: bytes | memoryview) -> None:
        """Write a file that carries its digest."""
        self.write(name, add_checksum(content))

    def read_named(self, name: str) -> bytes:
        """Read what `write_named` wrote; DamagedError for the content of another file."""
        content, mark, found = self.read_checked(name).rpartition(NAME)
        if not mark or found != name.encode():
            other = shown(found.decode(errors="replace")) if mark else "a file with no name"
            raise DamagedError(f"{self.where(name)} has the content of {other}")
        return content

    def write_named(self, name: str, content: bytes | memoryview) -> None:
        """Write a file that carries its name and its digest."""
        self.write_checked(name, b"".join([content, NAME, name.encode()]))

    def quarantine(self, name: str) -> str:
        """Rename a damaged file, beside earlier ones; gives its new name without its folder."""
        names = (f"{name}.corrupt{number or ''}" for number in count())
        aside = next(new for new in names if not self.holds(new))
        self.rename(name, aside)
        return Path(aside).name


class Bucket(Storage):
    """A URL of an object store, whose writes are whole or nothing."""

    @cached_property
    def opened(self) -> tuple[Any, str]:
        """pyarrow's file system and the path in it; once for each process."""
        from pyarrow import fs  # which Ray brings; a folder needs none of it

        return fs.FileSystem.from_uri(self.place)

    def __getstate__(self) -> dict[str, Any]:
        return {"place": self.place, "patience": self.patience}

    def _path(self, name: str) -> str:
        return f"{self.opened[1]}/{name}"

    def make(self) -> None:
        """See Storage."""

    @patient
    def read(self, name: str) -> bytes:
        """See Storage."""
        with self.opened[0].open_input_stream(self._path(name)) as stream:
            return bytes(stream.read())

    @patient
    def write(self, name: str, content: bytes | memoryview) -> None:
        """See Storage."""
        with self.opened[0].open_output_stream(self._path(name)) as stream:
            stream.write(content)

    @patient
    def holds(self, name: str) -> bool:
        """See Storage."""
        return bool(self.opened[0].get_file_info(self._path(name)).is_file)

    @patient
    def remove(self, name: str) -> None:
        """See Storage."""
        with suppress(FileNotFoundError):
            self.opened[0].delete_file(self._path(name))

    @patient
    def rename(self, name: str, new: str) -> None:
        """See Storage."""
        self.opened[0].move(self._path(name), self._path(new))


def storage(place: str | Path, key: str = "cluster.storage", *, patience: float = 0.0) -> Storage:
    """Return the storage at a folder or URL; SweepError names its key in params.yaml."""
    scheme, separator, rest = str(place).partition("://")
    if not separator:
        return Storage(str(Path(place).absolute()), patience)
    if scheme == "file":
        return Storage(rest.rstrip("/"), patience)
    bucket = Bucket(str(place).rstrip("/"), patience)
    try:
        assert bucket.opened
    except (OSError, ValueError) as error:
        raise _unusable(bucket, key, error) from error
    return bucket


def prepare(place: Storage, key: str) -> None:
    """Make a place that this machine may write to; SweepError says what is in the way."""
    try:
        place.make()
        place.write(".written", b"")
        place.remove(".written")
    except (OSError, ValueError) as error:
        raise _unusable(place, key, error) from error


def _unusable(place: Storage, key: str, error: Exception) -> SweepError:
    problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SweepError(
        f"{key} leads to {place.place}, which cannot be used: {problem.splitlines()[0]}; expected "
        "a folder, or an s3:// or gs:// URL, that this machine may read and write"
    )
