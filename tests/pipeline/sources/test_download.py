"""Fetching from a real server that cuts, stalls, lies and dies."""

import errno
import hashlib
import os
import re
import shutil
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources import download, transfer
from tests.pipeline.sources import server
from tests.pipeline.sources.fetching import CONTENT, HALF, SHA256, check, get, part
from tests.pipeline.sources.server import serving


def test_whole_file_then_no_network(tmp_path: Path) -> None:
    with serving(CONTENT, server.good) as site:
        check(get(tmp_path / "store", site.url, size=len(CONTENT)), tmp_path / "store")
        assert site.ranges == [None]
    check(get(tmp_path / "store", site.url), tmp_path / "store")  # the server is gone


def test_damaged_copy_is_fetched_anew(tmp_path: Path) -> None:
    (tmp_path / f"{SHA256[:16]}-file.zip").write_bytes(CONTENT[:-1])
    with serving(CONTENT, server.good) as site:
        check(get(tmp_path, site.url), tmp_path)


def test_many_cuts_resume_where_they_happened(tmp_path: Path) -> None:
    """More cuts than attempts, each with progress: none of them is the end."""
    with serving(CONTENT, *[server.cut(30_000)] * 9, server.good) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [None] + [f"bytes={30_000 * i}-" for i in range(1, 10)]


def test_server_without_ranges_starts_over(tmp_path: Path) -> None:
    plan = (server.cut_without_ranges(HALF), server.no_ranges)
    with serving(CONTENT, *plan) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [None, f"bytes={HALF}-"]


def test_cuts_without_progress_come_to_an_end(tmp_path: Path) -> None:
    with (
        serving(CONTENT, server.cut_without_ranges(HALF)) as site,
        pytest.raises(
            DataError, match=r"\(150,000 bytes are missing\), 5 times in a row; run again"
        ),
    ):
        get(tmp_path, site.url)
    assert len(site.ranges) == 2 * download.ATTEMPTS
    assert part(tmp_path).stat().st_size == HALF


@pytest.mark.parametrize("code", [500, 503, 429])
def test_busy_server_is_asked_again(tmp_path: Path, code: int) -> None:
    with serving(CONTENT, server.status(code), server.status(code), server.good) as site:
        check(get(tmp_path, site.url), tmp_path)


def test_missing_page_is_not_asked_again(tmp_path: Path) -> None:
    with (
        serving(CONTENT, server.status(404)) as site,
        pytest.raises(DataError, match=r"file\.zip: the server answered 404 .*corpus\.snli\.urls"),
    ):
        get(tmp_path, site.url)
    assert len(site.ranges) == 1


def test_server_that_stays_busy(tmp_path: Path) -> None:
    with (
        serving(CONTENT, server.status(503)) as site,
        pytest.raises(DataError, match="answered 503 Service Unavailable, 5 times in a row"),
    ):
        get(tmp_path, site.url)
    assert len(site.ranges) == 5


def test_nobody_listens(tmp_path: Path) -> None:
    with serving(CONTENT, server.good) as site:
        pass
    with pytest.raises(DataError, match=r"the connection failed \(.*refused"):
        get(tmp_path, site.url)


def test_stall_times_out_and_resumes(tmp_path: Path) -> None:
    with serving(CONTENT, server.stall(HALF), server.good) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [None, f"bytes={HALF}-"]


def test_content_length_too_long(tmp_path: Path) -> None:
    """The 416 that the promised rest yields says that all is there."""
    with serving(CONTENT, server.promise(10), server.good) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [None, f"bytes={len(CONTENT)}-"]


def test_content_length_too_short(tmp_path: Path) -> None:
    with (
        serving(CONTENT, server.promise(-10)) as site,
        pytest.raises(DataError, match="299,990 bytes came with SHA-256"),
    ):
        get(tmp_path, site.url)


def test_chunked_answer_without_length(tmp_path: Path) -> None:
    """Without a length only the missing last chunk tells a cut answer from a whole one."""
    with serving(CONTENT, server.chunked(HALF), server.good) as site:
        check(get(tmp_path / "cut", site.url), tmp_path / "cut")
    assert site.ranges == [None, f"bytes={HALF}-"]
    with serving(CONTENT, server.chunked(len(CONTENT))) as site:
        check(get(tmp_path / "whole", site.url), tmp_path / "whole")
    assert site.ranges == [None]


def test_partial_file_longer_than_the_whole(tmp_path: Path) -> None:
    part(tmp_path).write_bytes(CONTENT + b"more")
    with serving(CONTENT, server.good) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [f"bytes={len(CONTENT) + 4}-", None]


def test_killed_between_the_last_byte_and_the_rename(tmp_path: Path) -> None:
    part(tmp_path).write_bytes(CONTENT)
    with serving(CONTENT, server.good) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [f"bytes={len(CONTENT)}-"]


def test_wrong_range_starts_over(tmp_path: Path) -> None:
    with serving(CONTENT, server.cut(HALF), server.wrong_range, server.good) as site:
        check(get(tmp_path, site.url, size=len(CONTENT)), tmp_path)
    assert site.ranges == [None, f"bytes={HALF}-", None]


def test_file_that_changed_meanwhile_is_not_pieced(tmp_path: Path) -> None:
    """If-Range: the server sends all of the new version in place of its rest."""
    old = bytes(len(CONTENT))
    with serving(old, server.cut(HALF), server.good) as site:

        def change(handler: server.Handler) -> None:
            site.content, site.etag = CONTENT, '"v2"'
            server.good(handler)

        site.plan[1] = change
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [None, f"bytes={HALF}-"]


def test_stale_partial_file_costs_one_more_try(tmp_path: Path) -> None:
    part(tmp_path).write_bytes(bytes(HALF))
    with serving(CONTENT, server.good) as site:
        check(get(tmp_path, site.url), tmp_path)
    assert site.ranges == [f"bytes={HALF}-", None]


def test_wrong_digest_names_both_and_the_keys(tmp_path: Path) -> None:
    got = hashlib.sha256(b"a login page").hexdigest()
    with serving(CONTENT, server.other(b"a login page")) as site:
        message = f"{re.escape(site.url)}: 12 bytes came with SHA-256 {got}, expected {SHA256} "
        with pytest.raises(DataError, match=message + r"\(corpus\.snli\.sha256\)"):
            get(tmp_path, site.url)
    assert len(site.ranges) == 1
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_wrong_size_is_seen_before_the_body(tmp_path: Path) -> None:
    message = r"the file has 300,000 bytes, expected 7 \(corpus\.snli\.bytes\)"
    with serving(CONTENT, server.good) as site, pytest.raises(DataError, match=message):
        get(tmp_path, site.url, size=7)
    assert not part(tmp_path).exists()


def test_mirrors_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second mirror goes on with what the first one gave; the third has another file."""
    with (
        serving(CONTENT, server.cut(HALF), server.status(404)) as first,
        serving(CONTENT, server.other(b"no")) as second,
        serving(CONTENT, server.good) as third,
        serving(CONTENT, server.good) as fourth,
    ):
        check(get(tmp_path, first.url, second.url, third.url, fourth.url), tmp_path)
    assert (first.ranges, second.ranges) == ([None, f"bytes={HALF}-"], [f"bytes={HALF}-"])
    assert (third.ranges, fourth.ranges) == ([None], [])
    assert "404 Not Found; check corpus.snli.urls" in capsys.readouterr().err


def test_every_mirror_is_in_the_message(tmp_path: Path) -> None:
    with (
        serving(CONTENT, server.status(404)) as first,
        serving(CONTENT, server.status(403)) as second,
        pytest.raises(DataError) as caught,
    ):
        get(tmp_path, first.url, second.url)
    lines = str(caught.value).splitlines()
    assert [first.url in lines[0], second.url in lines[1]] == [True, True]
    assert "403 Forbidden" in lines[1]


def test_file_url_with_spaces(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    source = tmp_path / "a folder" / "file.zip"
    source.write_bytes(CONTENT)
    part(tmp_path / "store").parent.mkdir()
    part(tmp_path / "store").write_bytes(CONTENT[:HALF])
    check(get(tmp_path / "store", source.as_uri()), tmp_path / "store")
    assert source.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("file:///no/such/file.zip", "cannot be read \\(No such file"),
        ("file:///tmp", "cannot be read \\(Is a directory"),
        ("file://data/file.zip", "three slashes"),
    ],
)
def test_file_url_problems(tmp_path: Path, url: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        get(tmp_path, url)


def test_no_room_is_seen_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil._ntuple_diskusage(10**6, 10**6 - 1000, 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    message = r"no space left in .*: 300,000 bytes are needed and 1,000 are free"
    with serving(CONTENT, server.good) as site, pytest.raises(DataError, match=message):
        get(tmp_path, site.url, site.url)
    assert len(site.ranges) == 1  # another mirror would not help
    assert not part(tmp_path).exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_disk_fills_up_on_the_way(tmp_path: Path) -> None:
    part(tmp_path).symlink_to("/dev/full")
    with serving(CONTENT, server.good) as site, pytest.raises(DataError, match="make room and run"):
        get(tmp_path, site.url)


def test_store_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"corpus\.snli: cannot use .*file/store for downloads"):
        get(tmp_path / "file" / "store", "file:///tmp/x")


def test_write_error_that_is_not_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(transfer, "_append", refuse)
    with (
        serving(CONTENT, server.good) as site,
        pytest.raises(DataError, match=r"cannot write .*\.part: Read-only file system"),
    ):
        get(tmp_path, site.url)
