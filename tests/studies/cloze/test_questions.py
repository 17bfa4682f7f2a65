"""The questions of the study `cloze`: of a text, the archive of CBT, and files of Who-Did-What."""

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline.datasets.tokens import read_words
from studies.cloze.data import FIRST_WORD, PLACEHOLDER, QuestionTensors, ReaderData
from studies.cloze.question import format_question, parse_questions
from studies.cloze.questions import write_questions
from tests.pipeline.project import fetched, make_zip
from tests.pipeline.trials.test_study import params
from tests.studies.cloze.cloze_samples import question, text
from tests.studies.cloze.test_formats import WDW

SPLITS = ("train", "dev", "test")


def run(folder: Path, vectors: Any = {}, **data: Any) -> Any:  # noqa: B006
    """Write the questions of a section `cloze.data`; return their source and sizes."""
    whole = params(cloze={"data": data}, vectors=vectors | {"dimensions": 4})
    return write_questions(whole.cloze.data, whole.vectors, folder / "data")


def from_text(folder: Path, content: bytes = "\n".join(text()).encode(), **changes: Any) -> Any:
    (folder / "stories.txt").write_bytes(content)
    stories = fetched(folder / "stories.txt") | {"name": "stories", "members": []}
    layout = {"source": stories, "stride": 3, "dev_share": 0.2, "test_share": 0.2}
    return run(folder, text=layout, **changes)


def kind(folder: Path, name: str = "NE") -> Path:
    return folder / "data" / name


def test_questions_of_a_text(folder: Path) -> None:
    manifest = from_text(folder)
    assert manifest["source"] == "text stories" and list(manifest["kinds"]) == ["NE", "CN"]
    data, words = ReaderData.load(kind(folder)), read_words(kind(folder) / "words.tsv")
    assert len(data.words.vectors) == len(words) == manifest["kinds"]["NE"]["words"]
    assert not data.words.found.any()  # random vectors are not pre-trained
    for split, tensors in (("train", data.train), ("dev", data.dev)):
        lines = (kind(folder) / f"{split}.txt").read_bytes().splitlines()
        questions = list(parse_questions(lines, split))
        assert len(questions) == len(tensors) > 0
        end = int(tensors.document_offsets[1])
        document = [words[i - FIRST_WORD] for i in tensors.document_ids[:end].tolist()]
        assert document == questions[0].document
    listed = (kind(folder) / "dev_candidates.tsv").read_text().splitlines()
    assert [line.split("\t") for line in listed] == [one.candidates for one in questions]
    query = data.dev.query_ids[: int(data.dev.query_offsets[1])]
    assert (query == PLACEHOLDER).sum() == 1
    for split in SPLITS:  # words that occur only in dev have ids
        ids = QuestionTensors.load(kind(folder) / f"{split}.pt").document_ids
        assert int(ids.min()) >= FIRST_WORD
    articles = (kind(folder) / "test_articles.txt").read_text().split()
    tested = QuestionTensors.load(kind(folder) / "test.pt")
    assert len(articles) == len(tested) > len(set(articles)) == 2
    assert list(from_text(folder, question_types=["NE"])["kinds"]) == ["NE"]


def with_vectors(folder: Path, text: bytes, **changes: Any) -> Any:
    archive = make_zip(folder / "v.zip", {"v.txt": text})
    glove = fetched(archive) | {"member": "v.txt"}
    manifest = from_text(folder, vectors={"source": "glove", "glove": glove}, **changes)
    return manifest["kinds"]["NE"]


VECTORS = b"our 1 2 3 4\nAnna 5 6 7 8\nnobody 1 1 1 1\n"


def test_pretrained_vectors(folder: Path) -> None:
    manifest = with_vectors(folder, VECTORS)
    data, words = ReaderData.load(kind(folder)), read_words(kind(folder) / "words.tsv")
    assert data.words.found.sum() == manifest["found"] == 2
    assert data.words.vectors[words.index("Anna")].tolist() == [5, 6, 7, 8]


def test_the_digest_is_of_questions_and_vectors(folder: Path) -> None:
    """Trials are reused only if neither has changed."""
    first = with_vectors(folder, VECTORS)["digest"]
    assert with_vectors(folder, VECTORS, question_types=["NE"])["digest"] == first
    assert with_vectors(folder, VECTORS.replace(b"8", b"9"))["digest"] != first
    other = "\n".join(text(sentences=40)).encode()
    assert with_vectors(folder, VECTORS, content=other)["digest"] != first


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"= One =\nToo short .\n",
            "text.source, stories: no NE question for train in 1 sect",
        ),
        (
            b"caf\xe9\n",
            r"stories: not UTF-8 \(at byte 4\); name another text",
        ),
    ],
)
def test_a_text_without_questions(folder: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_text(folder, content)
    assert not kind(folder).parent.exists()


def cbt_archive(folder: Path, content: str) -> Path:
    """Write a small archive of CBT with the same questions in each file."""
    path = folder / "CBTest.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("train", "valid_2000ex", "test_2500ex"):
            for kind in ("NE", "CN"):
                info = tarfile.TarInfo(f"CBTest/data/cbtest_{kind}_{name}.txt")
                info.size = len(content.encode())
                archive.addfile(info, io.BytesIO(content.encode()))
    return path


def test_the_childrens_book_test(folder: Path) -> None:
    path = cbt_archive(folder, f"{format_question(question())}\n" * 2)
    manifest = run(folder, source="cbt", cbt=fetched(path))
    for name in ("NE", "CN"):
        data = ReaderData.load(kind(folder, name))
        assert data.train.answers.tolist() == [3, 3]  # the fox
        assert len(data.dev) == 2 and manifest["kinds"][name]["found"] == 0

    path = cbt_archive(folder, format_question(question()).replace("7 The", "8 The", 1))
    message = "CBTest/data/cbtest_NE_train.txt in .*tgz, line 7: the line begins with '8'"
    with pytest.raises(DataError, match=message):
        run(folder, source="cbt", cbt=fetched(path))
    assert not kind(folder).parent.exists()


def test_who_did_what(folder: Path) -> None:
    (folder / "wdw.xml").write_text(WDW)
    files = dict.fromkeys(SPLITS, fetched(folder / "wdw.xml"))
    assert list(run(folder, source="whodidwhat", whodidwhat=files)["kinds"]) == ["WDW"]
    assert len(QuestionTensors.load(kind(folder, "WDW") / "test.pt")) == 1
    candidates = (kind(folder, "WDW") / "dev_candidates.tsv").read_text()
    assert sorted(candidates.split()) == ["@entity0", "@entity1"]
