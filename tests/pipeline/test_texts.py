"""The texts stage on small archives and files, from disk and from a real server."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from actmodels.errors import ArtefactError, DataError
from pipeline import texts
from pipeline.sources import download
from pipeline.sources.stored_text import stored_text
from tests.pipeline.sources.server import answer, serving
from tests.pipeline.sources.zips import make_zip

ROOT = Path(__file__).parents[2]
MEMBERS = {"t/first": b"one\ntwo", "t/second": "zw\xf6lf\n".encode(), "t/third": b"\xff\x00 end"}
JOINED = b"one\ntwo\nzw\xc3\xb6lf\n\xff\x00 end"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(download, "FIRST_WAIT_S", 0.001)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def project(folder: Path, **sources: Any) -> None:
    params = YAML(typ="safe").load(ROOT / "params.yaml")
    params["texts"] = {"sources": sources}
    YAML().dump(params, folder / "params.yaml")


def source(path: Path, *members: str, **changes: Any) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    found = {"urls": [path.as_uri()], "sha256": digest, "bytes": None, "members": list(members)}
    return found | changes


def archive(folder: Path) -> Path:
    return make_zip(folder / "mirror.zip", MEMBERS)


def made(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "artefacts" / "texts").iterdir()}


def summary(folder: Path) -> Any:
    return json.loads(made(folder)["summary.json"])


def test_without_sources_there_is_only_an_empty_summary(folder: Path) -> None:
    (folder / "params.yaml").write_bytes((ROOT / "conf" / "base.yaml").read_bytes())
    texts.main()
    assert list(made(folder)) == ["summary.json"]
    assert summary(folder) == {"texts": {}}
    assert not (folder / "state").exists()


def test_members_are_joined_in_the_order_asked_for(folder: Path) -> None:
    project(folder, all=source(archive(folder), *MEMBERS), last=source(archive(folder), "t/third"))
    texts.main()
    assert made(folder)["all.txt"] == JOINED
    assert made(folder)["last.txt"] == MEMBERS["t/third"]
    digest = hashlib.sha256(JOINED).hexdigest()
    assert summary(folder)["texts"]["all"] == {"bytes": len(JOINED), "sha256": digest}
    text = stored_text("all")
    assert (text.path, text.bytes, text.sha256) == (
        folder / "artefacts" / "texts" / "all.txt",
        len(JOINED),
        digest,
    )
    project(folder, all=source(archive(folder), "t/third", "t/first"))
    texts.main()
    assert set(made(folder)) == {"all.txt", "summary.json"}  # that no longer asked for is gone
    assert made(folder)["all.txt"] == b"\xff\x00 end\none\ntwo"


def test_without_members_the_file_is_the_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "CHUNK_BYTES", 7)  # many pieces
    plain = folder / "plain.txt"
    plain.write_bytes(JOINED * 3)
    project(folder, plain=source(plain))
    texts.main()
    assert made(folder)["plain.txt"] == JOINED * 3
    plain.unlink()
    before = made(folder)
    texts.main()  # from state/downloads
    assert made(folder) == before


def test_from_a_server_that_hangs_up_once(folder: Path) -> None:
    content = archive(folder).read_bytes()
    with serving(content, answer(after=50), answer()) as server:
        project(folder, far=source(archive(folder), "t/first", urls=[server.url]))
        texts.main()
    assert made(folder)["far.txt"] == b"one\ntwo"
    assert server.ranges == [None, "bytes=50-"]


def failing(folder: Path) -> str:
    """The sentence of a run that fails, which leaves what an earlier one wrote or nothing."""
    with pytest.raises(DataError) as caught:
        texts.main()
    return str(caught.value)


def test_another_file_than_expected_keeps_the_earlier_texts(folder: Path) -> None:
    project(folder, far=source(archive(folder), "t/first"))
    texts.main()
    before = made(folder)
    wanted = source(archive(folder), "t/first")
    with serving(b"", answer(b"something else")) as server:
        project(folder, far=wanted | {"urls": [server.url], "sha256": "0" * 64})
        said = failing(folder)
    found = hashlib.sha256(b"something else").hexdigest()
    assert said == (
        f"texts.sources.far: {server.url}: 14 bytes came with SHA-256 {found}, expected {'0' * 64} "
        "(texts.sources.far.sha256); check texts.sources.far.urls in params.yaml"
    )
    assert made(folder) == before


def test_a_member_that_is_not_there_leaves_nothing(folder: Path) -> None:
    good_one = source(archive(folder), "t/first")
    project(folder, good=good_one, bad=source(archive(folder), "t/first", "x/second"))
    said = failing(folder)
    assert "has no member x/second (the nearest are t/second); correct the name in params" in said
    assert list((folder / "artefacts").iterdir()) == []


def test_an_archive_is_not_taken_for_a_text(folder: Path) -> None:
    project(folder, whole=source(archive(folder)))
    said = failing(folder)
    assert said.startswith("texts.sources.whole: ")
    assert said.endswith(
        "mirror.zip is a zip archive; name what to read of it: texts.sources.whole.members"
    )


def test_an_empty_text_is_none(folder: Path) -> None:
    project(folder, empty=source(make_zip(folder / "e.zip", {"e": b""}), "e"))
    assert failing(folder) == ("texts.sources.empty: the text is empty; expected at least one byte")
    assert list((folder / "artefacts").iterdir()) == []


def test_a_text_that_is_not_there_is_asked_of_its_stage(folder: Path) -> None:
    with pytest.raises(ArtefactError, match=r"t\.txt is missing; run: dvc repro texts"):
        stored_text("t")
    project(folder, t=source(archive(folder), "t/first"))
    texts.main()
    with pytest.raises(ArtefactError, match=r"other\.txt is missing; run: dvc repro texts"):
        stored_text("other")
