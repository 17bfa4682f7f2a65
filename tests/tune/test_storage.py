"""Files in a folder and under a URL behave alike."""

import errno
import pickle
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from actmodels.errors import SweepError
from actmodels.files import CorruptError
from tune.trials.storage import Bucket, Storage, is_full, prepare, retried, storage, storage_errors


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """A folder, or pyarrow's file system in memory, which replaces files whole as S3 does."""
    result = storage(tmp_path / "place") if request.param == "folder" else storage("mock:///place")
    result.make()
    if isinstance(result, Bucket):
        result.opened[0].create_dir(f"{result.opened[1]}/rungs/3", recursive=True)
    return result


def test_a_full_disk_and_a_full_quota_are_full() -> None:
    assert all(is_full(OSError(number, "full")) for number in (errno.ENOSPC, errno.EDQUOT))
    assert not is_full(OSError(errno.EACCES, "Permission denied"))


def test_read_returns_the_last_write(place: Storage) -> None:
    assert not place.exists("rungs/3/a.json")
    with pytest.raises(FileNotFoundError):
        place.read("rungs/3/a.json")
    for content in (b"first", memoryview(b"second")):
        place.write("rungs/3/a.json", content)
        assert place.read("rungs/3/a.json") == bytes(content)
    assert place.exists("rungs/3/a.json")
    for _ in range(2):
        place.remove("rungs/3/a.json")
        assert not place.exists("rungs/3/a.json")


def test_files_are_listed_without_those_of_subfolders(place: Storage) -> None:
    for name in ("a.pt", "rungs/3/a.json"):
        place.write(name, b"123")
    ((name, size, written),) = place.files()
    assert (name, size) == ("a.pt", 3) and abs(written - time.time()) < 60
    assert [name for name, *_ in place.files("rungs/3/")] == ["rungs/3/a.json"]
    assert storage(f"{place.location}/other").files() == place.files("other/") == []


def test_a_corrupt_file_is_named_and_quarantined(place: Storage) -> None:
    place.write_checked("a.pt", b"content")
    assert place.read_checked("a.pt") == b"content"
    place.write("a.pt", place.read("a.pt")[:-9])
    with pytest.raises(CorruptError, match=r"/place/a\.pt is corrupt: its content does not"):
        place.read_checked("a.pt")
    assert place.quarantine("a.pt") == "a.pt.corrupt"
    assert not place.exists("a.pt") and place.exists("a.pt.corrupt")


def test_a_copy_of_another_file_is_not_read(place: Storage) -> None:
    for name in ("rungs/3/a.json", "b.pt"):
        place.write_named(name, content := b"some\nname b.pt")
        assert place.read_named(name) == content
    place.rename("b.pt", "a.pt")
    with pytest.raises(CorruptError, match=f"{place.location}/a.pt has the content of 'b.pt'"):
        place.read_named("a.pt")
    place.write_checked("a.pt", b"of an earlier version")
    with pytest.raises(CorruptError, match=r"/place/a\.pt has the content of a file with no"):
        place.read_named("a.pt")


def test_a_missing_folder_is_not_created(tmp_path: Path) -> None:
    """It may be a mount that is missing on one machine; a folder on its disk would hide that."""
    place = storage(tmp_path / "mount")
    with pytest.raises(FileNotFoundError) as raised:
        place.write("a", b"")
    assert raised.value.errno == errno.ENOENT
    assert not (tmp_path / "mount").exists()


def test_folder_or_bucket_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert storage("state/ray") == Storage(str(tmp_path / "state" / "ray"))
    assert storage(tmp_path.as_uri()) == Storage(str(tmp_path))
    assert storage("mock:///a/b/") == Bucket("mock:///a/b")
    copy = pickle.loads(pickle.dumps(storage("mock:///a/b")))  # without its file system
    assert vars(copy) == {"location": "mock:///a/b", "retry_seconds": 0.0}


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("a file", "File exists"),
        ("nul\0", "embedded null"),
        ("mock:///nowhere/deep", "Path does not exist"),
        ("ftp://host/place", "expected a folder, or an s3:// or gs:// URL"),
    ],
)
def test_an_unusable_location(place: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    where = place if "://" in place else tmp_path / place
    with pytest.raises(SweepError) as raised:
        prepare(storage(where), "cluster.storage")
    message = f"cluster.storage is {where}, which cannot be used: "
    assert str(raised.value).startswith(message) and problem in str(raised.value)


class Unreachable(Storage):
    """A storage that raises errors before it answers."""

    errors: ClassVar[list[OSError]] = []

    @retried
    def read(self, name: str) -> bytes:
        if self.errors:
            raise self.errors.pop()
        return b"content"


REFUSED = OSError("AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7")


def test_an_unreachable_storage_is_retried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Unreachable(str(tmp_path), retry_seconds=5.0)
    place.errors[:] = [REFUSED, OSError(errno.ESTALE, "Stale file handle")]
    assert place.read("a") == b"content"
    assert capsys.readouterr().err == f"{tmp_path} does not answer; retrying for 5 s\n"
    place.errors[:] = [PermissionError(errno.EACCES, "Permission denied")]
    with pytest.raises(PermissionError):
        place.read("a")
    with pytest.raises(SweepError, match="is full; make room there; "), storage_errors(place):
        raise OSError("AWS Error UNKNOWN (HTTP status 507) during PutObject operation")
    place.errors[:] = [REFUSED]
    with pytest.raises(SweepError) as raised, storage_errors(place):
        replace(place, retry_seconds=0.0).read("a")
    assert str(raised.value) == (
        f"{tmp_path} cannot be reached ({REFUSED}); check its server; nothing is lost: run the "
        "same command again to resume"
    )
