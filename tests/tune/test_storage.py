"""Files in a folder and under a URL behave alike."""

import errno
import pickle
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from actmodels.errors import SweepError
from actmodels.files import DamagedError
from tune.storage import Bucket, Storage, is_away, is_full, patient, prepare, storage, usable


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """A folder, or pyarrow's file system in memory, which replaces files whole as S3 does."""
    found = storage(tmp_path / "place") if request.param == "folder" else storage("mock:///place")
    found.make()
    if isinstance(found, Bucket):
        found.opened[0].create_dir(f"{found.opened[1]}/rungs/3", recursive=True)
    return found


def test_what_was_written_last_is_read(place: Storage) -> None:
    assert not place.holds("rungs/3/a.json")
    with pytest.raises(FileNotFoundError):
        place.read("rungs/3/a.json")
    for content in (b"first", memoryview(b"second")):
        place.write("rungs/3/a.json", content)
        assert place.read("rungs/3/a.json") == bytes(content)
    assert place.holds("rungs/3/a.json")
    for _ in range(2):
        place.remove("rungs/3/a.json")
        assert not place.holds("rungs/3/a.json")


def test_damage_is_told_by_the_whole_name_and_set_aside(place: Storage) -> None:
    place.write_checked("a.pt", b"content")
    assert place.read_checked("a.pt") == b"content"
    place.write("a.pt", place.read("a.pt")[:-9])
    with pytest.raises(DamagedError, match=f"{place.place}/a.pt is damaged: its content does not"):
        place.read_checked("a.pt")
    assert place.quarantine("a.pt") == "a.pt.corrupt"
    assert not place.holds("a.pt") and place.holds("a.pt.corrupt")


def test_the_content_of_another_file_is_not_read(place: Storage) -> None:
    for name in ("rungs/3/a.json", "b.pt"):
        place.write_named(name, content := b"some\nname b.pt")
        assert place.read_named(name) == content
    place.rename("b.pt", "a.pt")
    with pytest.raises(DamagedError, match=f"{place.place}/a.pt has the content of 'b.pt'"):
        place.read_named("a.pt")
    place.write_checked("a.pt", b"of an earlier version")
    with pytest.raises(DamagedError, match=f"{place.place}/a.pt has the content of a file with no"):
        place.read_named("a.pt")


def test_a_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    """It may be a mount that is missing on one machine, whose own disk would take its place."""
    place = storage(tmp_path / "mount")
    with pytest.raises(FileNotFoundError) as told:
        place.write("a", b"")
    assert told.value.errno == errno.ENOENT
    assert not (tmp_path / "mount").exists()


def test_what_names_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert storage("state/ray") == Storage(str(tmp_path / "state" / "ray"))
    assert storage(tmp_path.as_uri()) == Storage(str(tmp_path))
    assert storage("mock:///a/b/") == Bucket("mock:///a/b")
    sent = pickle.loads(pickle.dumps(storage("mock:///a/b")))  # without its file system
    assert vars(sent) == {"place": "mock:///a/b", "patience": 0.0}


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("a file", "File exists"),
        ("a file/below", "Not a directory"),
        ("/proc/nothing", "No such file or directory"),
        ("nul\0", "embedded null"),
        ("mock:///nowhere/deep", "Path does not exist"),
        ("ftp://host/place", "expected a folder, or an s3:// or gs:// URL"),
    ],
)
def test_a_place_that_cannot_be_written_to(place: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    where = place if "://" in place else tmp_path / place
    with pytest.raises(SweepError) as told:
        prepare(storage(where), "cluster.storage")
    said = f"cluster.storage leads to {where}, which cannot be used: "
    assert str(told.value).startswith(said) and problem in str(told.value)


class Away(Storage):
    """A store that raises an error a few times before it answers."""

    errors: ClassVar[list[OSError]] = []

    @patient
    def read(self, name: str) -> bytes:
        if self.errors:
            raise self.errors.pop()
        return b"content"


REFUSED = OSError("AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7")


def test_a_store_that_is_away_for_a_while_is_awaited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Away(str(tmp_path), patience=5.0)
    place.errors[:] = [REFUSED, OSError(errno.ESTALE, "Stale file handle")]
    assert place.read("a") == b"content"
    assert capsys.readouterr().err == f"{tmp_path} does not answer; trying for 5 s\n"
    place.errors[:] = [PermissionError(errno.EACCES, "Permission denied")]
    with pytest.raises(PermissionError):
        place.read("a")
    full = OSError("AWS Error UNKNOWN (HTTP status 507) during PutObject operation")
    assert is_full(full) and not is_away(full)
    place.errors[:] = [REFUSED]
    with pytest.raises(SweepError) as raised, usable(place):
        replace(place, patience=0.0).read("a")
    assert str(raised.value) == (
        f"{tmp_path} cannot be reached ({REFUSED}); check its server; nothing is lost: run the "
        "same command again to go on"
    )
