"""The stage of cloze questions: from a text, from CBT's archive, from Who-Did-What's files."""

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from ruamel.yaml import YAML

from actmodels.errors import DataError
from actmodels.reader.data import ReaderData
from actmodels.reader.questions import FIRST_WORD, PLACEHOLDER, QuestionTensors
from pipeline import questions, texts
from pipeline.sources.cbt import format_question, read_questions
from pipeline.sources.words import read_words
from tests.pipeline.sources.cloze_samples import question, text
from tests.pipeline.sources.test_whodidwhat import FILE
from tests.pipeline.sources.zips import make_zip

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path: Path, content: bytes) -> dict[str, Any]:
    """A file, and how params.yaml names it."""
    path.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return {"urls": [path.as_uri()], "sha256": digest, "bytes": None}


def project(folder: Path, **changes: Any) -> None:
    """params.yaml with some sections of `questions` changed, and other sections whole."""
    params = YAML(typ="safe").load(ROOT / "conf" / "base.yaml")
    params["vectors"]["dimensions"] = 4
    for name in ("texts", "vectors"):
        params[name] |= changes.pop(name, {})
    for name, value in changes.items():
        part = params["questions"][name]
        params["questions"][name] = part | value if isinstance(part, dict) else value
    YAML().dump(params, folder / "params.yaml")


def from_text(folder: Path, content: bytes | None = None, **changes: Any) -> None:
    content = "\n".join(text()).encode() if content is None else content
    source = written(folder / "stories.txt", content) | {"members": []}
    layout = {"name": "stories", "section_pattern": "= [^=]+ =", "stride": 3, "dev_share": 0.2}
    layout |= {"test_share": 0.2}
    project(folder, source="text", texts={"sources": {"stories": source}}, text=layout, **changes)
    texts.main()


def manifest(folder: Path) -> Any:
    return json.loads((folder / "artefacts" / "questions" / "manifest.json").read_text())


def test_nothing_is_asked_for_by_default(folder: Path) -> None:
    (folder / "params.yaml").write_bytes((ROOT / "conf" / "base.yaml").read_bytes())
    questions.main()
    assert manifest(folder) == {"source": "none", "kinds": {}}
    assert [p.name for p in (folder / "artefacts" / "questions").iterdir()] == ["manifest.json"]


def test_questions_of_a_text(folder: Path) -> None:
    from_text(folder)
    questions.main()
    found = manifest(folder)
    assert found["source"] == "text stories" and list(found["kinds"]) == ["NE", "CN"]
    made = folder / "artefacts" / "questions" / "NE"
    data, words = ReaderData.load(made), read_words(made / "words.tsv")
    assert len(data.words.vectors) == len(words) == found["kinds"]["NE"]["words"]
    assert not data.words.found.any()  # vectors that are drawn are no pre-trained ones
    for split, tensors in (("train", data.train), ("dev", data.dev)):
        asked = list(read_questions(made / f"{split}.txt"))  # which stay, to be looked at
        assert len(asked) == len(tensors) > 0
        assert found["kinds"]["NE"]["splits"][split]["questions"] == len(asked)
        end = int(tensors.document_offsets[1])
        document = [words[i - FIRST_WORD] for i in tensors.document_ids[:end].tolist()]
        assert document == asked[0].document
    asked = list(read_questions(made / "dev.txt"))
    listed = [line.split("\t") for line in (made / "dev_candidates.tsv").read_text().splitlines()]
    assert listed == [one.candidates for one in asked]
    query = data.dev.query_ids[: int(data.dev.query_offsets[1])]
    assert (query == PLACEHOLDER).sum() == 1


def test_the_digest_is_that_of_what_readers_see(folder: Path) -> None:
    from_text(folder)
    questions.main()
    first = manifest(folder)
    questions.main()
    assert manifest(folder) == first
    changed(folder, lowercase=True)
    questions.main()
    assert manifest(folder)["kinds"]["NE"]["digest"] != first["kinds"]["NE"]["digest"]


def changed(folder: Path, **changes: Any) -> None:
    """Change top values of the section `questions` in what is there."""
    path = folder / "params.yaml"
    params = YAML(typ="safe").load(path)
    params["questions"] |= changes
    YAML().dump(params, path)


def test_pretrained_vectors_are_looked_up(folder: Path) -> None:
    archive = make_zip(folder / "v.zip", {"v.txt": b"our 1 2 3 4\nAnna 5 6 7 8\nnobody 1 1 1 1\n"})
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    glove = {"urls": [archive.as_uri()], "sha256": digest, "bytes": None, "member": "v.txt"}
    glove |= {"mean_norm": None}
    from_text(folder, vectors={"source": "glove", "glove": glove})
    questions.main()
    made = folder / "artefacts" / "questions" / "NE"
    data, words = ReaderData.load(made), read_words(made / "words.tsv")
    assert data.words.found.sum() == manifest(folder)["kinds"]["NE"]["found"] == 2
    assert data.words.vectors[words.index("Anna")].tolist() == [5, 6, 7, 8]


def test_one_kind_alone(folder: Path) -> None:
    from_text(folder, kinds=["CN"])
    questions.main()
    assert list(manifest(folder)["kinds"]) == ["CN"]
    names = {path.name for path in (folder / "artefacts" / "questions").iterdir()}
    assert names == {"CN", "manifest.json"}


@pytest.mark.parametrize(
    ("content", "wording"),
    [
        (b"= One =\nToo short .\n", "stories.txt: no NE question for train in 1 sections"),
        (b"caf\xe9\n", r"stories\.txt: not UTF-8 \(at byte 4\); name another text in questions"),
    ],
)
def test_a_text_without_questions(folder: Path, content: bytes, wording: str) -> None:
    from_text(folder, content)
    with pytest.raises(DataError, match=wording):
        questions.main()
    assert not (folder / "artefacts" / "questions").exists()


def children(folder: Path, content: bytes | None = None, suffix: str = ".tgz") -> Path:
    """CBT's archive in small: two questions in each file."""
    content = (format_question(question()) * 2).encode() if content is None else content
    path = folder / f"CBTest{suffix}"
    with tarfile.open(path, "w:gz") as archive:
        for kind in ("NE", "CN"):
            for name in ("train", "valid_2000ex", "test_2500ex"):
                info = tarfile.TarInfo(f"CBTest/data/cbtest_{kind}_{name}.txt")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("suffix", [".tgz", ".tar.gz"])
def test_the_childrens_book_test(folder: Path, suffix: str) -> None:
    path = children(folder, suffix=suffix)
    project(folder, source="cbt", cbt=written(path, path.read_bytes()))
    questions.main()
    for kind in ("NE", "CN"):
        splits = manifest(folder)["kinds"][kind]["splits"]
        assert [splits[split]["questions"] for split in ("train", "dev", "test")] == [2, 2, 2]
        data = ReaderData.load(folder / "artefacts" / "questions" / kind)
        assert data.train.answers.tolist() == [3, 3]  # the fox


def test_a_malformed_line_is_named_with_member_and_archive(folder: Path) -> None:
    broken = format_question(question()).replace("7 The", "8 The", 1).encode()
    path = children(folder, broken)
    project(folder, source="cbt", cbt=written(path, path.read_bytes()))
    wording = "CBTest/data/cbtest_NE_train.txt in .*tgz, line 7: the numbering is broken, '8'"
    with pytest.raises(DataError, match=wording):
        questions.main()
    assert not (folder / "artefacts" / "questions").exists()


def test_an_archive_of_something_else(folder: Path) -> None:
    path = children(folder)
    given = written(path, path.read_bytes())
    project(folder, source="cbt", cbt=given | {"folder": "CBT"})
    wording = (
        "has no member CBT/cbtest_NE_train.txt .the nearest are CBTest/data/cbtest_NE_train.txt"
    )
    with pytest.raises(DataError, match=wording):
        questions.main()
    project(folder, source="cbt", cbt=written(path, path.read_bytes()[:200]))
    with pytest.raises(DataError, match=r"cannot read CBTest/data/cbtest_NE_train\.txt"):
        questions.main()


def test_who_did_what(folder: Path) -> None:
    files = {s: written(folder / f"{s}.xml", FILE.encode()) for s in ("train", "dev", "test")}
    project(folder, source="whodidwhat", whodidwhat=files)
    questions.main()
    assert list(manifest(folder)["kinds"]) == ["WDW"]
    made = folder / "artefacts" / "questions" / "WDW"
    assert len(QuestionTensors.load(made / "test.pt")) == 1
    assert sorted((made / "dev_candidates.tsv").read_text().split()) == ["@entity0", "@entity1"]


def test_words_of_all_splits_have_rows_of_their_own(folder: Path) -> None:
    """A reader must tell words of dev apart that it has never seen."""
    from_text(folder)
    questions.main()
    made = folder / "artefacts" / "questions" / "NE"
    for split in ("train", "dev", "test"):
        ids = QuestionTensors.load(made / f"{split}.pt").document_ids
        assert int(ids.min()) >= FIRST_WORD
    assert len(torch.load(made / "vectors.pt")["found"]) == len(read_words(made / "words.tsv"))
