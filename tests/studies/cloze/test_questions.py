"""Cloze questions of a text, of the Children's Book Test and of Who-Did-What; their encoding."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline.datasets.tokens import read_words
from studies.cloze.data import QuestionTensors, ReaderData
from studies.cloze.question import (
    BLANK,
    ClozeQuestion,
    count_words,
    encode_questions,
    format_question,
    parse_questions,
)
from studies.cloze.questions import write_questions
from studies.cloze.sources import anonymize, read_questions
from tests.pipeline.project import fetched, make_zip
from tests.pipeline.trials.test_study import params
from tests.studies.cloze.cloze_samples import lines, question, text

WDW = """<?xml version="1.0" encoding="UTF-8"?>
<wdw>
<mc>
<question><leftcontext>On Monday&nbsp;Ann Lee &amp; </leftcontext><blank/>
<rightcontext> met.</rightcontext></question>
<contextart id="x">Mayor Bob Ray spoke. Ann Lee sat, and Ann left. Bob Ray did not.</contextart>
<choice correct="false" idx="0">Ann Lee</choice>
<choice correct="true" idx="1">Bob Ray</choice>
</mc>
</wdw>
"""
CBT = "\n".join(lines())
CBT_CHANGES = [
    *(
        ("7 The", "7.The"),
        ("1 The hen saw hen 0 .", "1 "),
        ("XXXXX", "hen"),
        ("\tfox\t", "\twolf\t"),
    ),
    *(("|rat", ""), ("|rat", "|hen"), ("|rat", "|"), ("\tfox\t\t", "\tfox\t")),
    *(("saw fox", "saw elk"), ("\n13 ", "\n\n13 "), (CBT, " ")),
]
WDW_CHANGES = [
    *(("</mc>", ""), ("mc>", "md>"), ("rightcontext", "right"), ('correct="true"', "")),
    *((">Ann Lee</choice>", "></choice>"), (">Ann Lee</ch", ">Bob Ray</ch")),
    *((">Bob Ray</ch", ">Al Poe</ch"), ('<choice correct="false" idx="0">Ann Lee</choice>', "")),
]


def parsed(content: list[str], newline: str = "\n") -> list[ClozeQuestion]:
    return list(parse_questions(((line + newline).encode() for line in content), "questions.txt"))


def read_wdw(folder: Path, content: str, seed: int = 0) -> list[ClozeQuestion]:
    (folder / "train.xml").write_text(content, encoding="utf-8")
    return list(read_questions(folder / "train.xml", seed))


def test_empty_lines_separate_questions() -> None:
    for newline in ("", "\n", "\r\n"):
        questions = parsed(["", *lines(), "", "  ", *lines()[:-1]], newline)
        assert questions == [question()] * 2
    assert questions[0].document[:6] == ["The", "hen", "saw", "hen", "0", "."]
    assert format_question(question()) == CBT


def test_malformed_files(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    """Each names its file, line or question, and what is expected."""
    found = []
    for read, content, changes in (
        (lambda content: parsed(content.split("\n")), CBT, CBT_CHANGES),
        (lambda content: read_wdw(tmp_path, content), WDW, WDW_CHANGES),
    ):
        for old, new in changes:
            assert old in content
            with pytest.raises(DataError) as caught:
                read(content.replace(old, new))
            found.append(str(caught.value).replace(f"{tmp_path}/", ""))
    golden("cloze_files.txt", "\n".join([*found, ""]))


def test_counts_and_encoding_by_hand() -> None:
    sentences = [["Bill", "met", "Ann"], ["Ann", "left", "bill"]]
    first = ClozeQuestion(sentences, ["XXXXX", "left"], ["Ann", "Bill", "Zoe"], "Ann")
    second = ClozeQuestion([["a", "b"]], ["b", "XXXXX"], ["b", "a"], "a")
    counts = [("Ann", 2), ("left", 2), ("Bill", 1), ("bill", 1), ("met", 1)]
    assert count_words([first]) == counts  # words of queries count, blanks do not
    split = encode_questions([first, second], {"Ann": 3, "left": 4, "b": 5})
    assert {name: values.tolist() for name, values in vars(split).items()} == {
        "document_ids": [1, 1, 3, 3, 4, 1, 1, 5],
        # candidates are case-sensitive; unknown words differ by their position
        "candidate_at": [1, -1, 0, 0, -1, -1, 1, 0],
        "document_offsets": [0, 6, 8],
        "query_ids": [2, 4, 5, 2],
        "query_offsets": [0, 2, 4],
        "candidate_counts": [3, 2],
        "answers": [0, 1],
    }


def test_names_are_replaced_by_numbers_that_depend_only_on_the_seed(tmp_path: Path) -> None:
    (one,) = read_wdw(tmp_path, WDW)
    ann, bob = one.candidates
    assert {ann, bob} == {"@entity0", "@entity1"} and one.answer == bob
    assert one.query == ["On", "Monday", ann, "&", BLANK, "met", "."]
    sentences = [["Mayor", bob, "spoke", "."], [ann, "sat", ",", "and", "Ann", "left", "."]]
    assert one.sentences == [*sentences, [bob, "did", "not", "."]]
    assert read_wdw(tmp_path, WDW, 1) == read_wdw(tmp_path, WDW, 1)
    assert len({read_wdw(tmp_path, WDW, seed)[0].answer for seed in range(12)}) == 2
    # longer names take precedence
    tokens = ["Bob", "Ray", "and", "Bob"]
    assert anonymize(tokens, [["Bob"], ["Bob", "Ray"]], ["@a", "@b"]) == ["@b", "and", "@a"]


def run(folder: Path, vectors: Any = {}, **data: Any) -> Any:  # noqa: B006
    """Write the questions of a section `cloze.data`; return their source and sizes."""
    whole = params(cloze={"data": data}, vectors=vectors | {"dimensions": 4})
    return write_questions(whole.cloze.data, whole.vectors, folder / "data")


def from_text(folder: Path, content: bytes = "\n".join(text()).encode(), **changes: Any) -> Any:
    (folder / "stories.txt").write_bytes(content)
    stories = fetched(folder / "stories.txt") | {"name": "stories", "members": []}
    layout = {"source": stories, "stride": 3, "dev_share": 0.2, "test_share": 0.2}
    return run(folder, text=layout, **changes)


def test_questions_of_a_text(folder: Path) -> None:
    manifest, written = from_text(folder), folder / "data" / "NE"
    assert manifest["source"] == "text stories" and list(manifest["kinds"]) == ["NE", "CN"]
    data, words = ReaderData.load(written), read_words(written / "words.tsv")
    assert len(data.words.vectors) == len(words) == manifest["kinds"]["NE"]["words"]
    assert not data.words.found.any()  # random vectors are not pre-trained
    ids = {word: row for row, word in enumerate(words, start=3)}
    for split in ("train", "dev", "test"):
        tensors = QuestionTensors.load(written / f"{split}.pt")
        of_split = (written / f"{split}.txt").read_bytes().splitlines()
        questions = list(parse_questions(of_split, split))
        expected = encode_questions(questions, ids)
        assert len(tensors) > 0 and all(map(ids.get, questions[0].document))
        for name, values in vars(tensors).items():
            assert values.equal(getattr(expected, name))
        if split == "dev":
            listed = (written / "dev_candidates.tsv").read_text().splitlines()
            assert [line.split("\t") for line in listed] == [one.candidates for one in questions]
    articles = (written / "test_articles.txt").read_text().split()
    assert len(articles) == len(tensors) > len(set(articles)) == 2
    assert list(from_text(folder, question_types=["NE"])["kinds"]) == ["NE"]


def with_vectors(folder: Path, vectors: bytes, **changes: Any) -> Any:
    archive = make_zip(folder / "v.zip", {"v.txt": vectors})
    glove = fetched(archive) | {"member": "v.txt"}
    manifest = from_text(folder, vectors={"source": "glove", "glove": glove}, **changes)
    return manifest["kinds"]["NE"]


def test_pretrained_vectors_and_the_digest_of_them_and_the_questions(folder: Path) -> None:
    """Trials are reused only if neither has changed."""
    vectors = b"our 1 2 3 4\nAnna 5 6 7 8\nnobody 1 1 1 1\n"
    first = with_vectors(folder, vectors)
    data = ReaderData.load(folder / "data" / "NE")
    row = read_words(folder / "data" / "NE" / "words.tsv").index("Anna")
    assert data.words.found.sum() == first["found"] == 2
    assert data.words.vectors[row].tolist() == [5, 6, 7, 8]
    digest = first["digest"]
    assert with_vectors(folder, vectors, question_types=["NE"])["digest"] == digest
    assert with_vectors(folder, vectors.replace(b"8", b"9"))["digest"] != digest
    other = "\n".join(text(sentences=40)).encode()
    assert with_vectors(folder, vectors, content=other)["digest"] != digest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"= One =\nToo short .\n", "text.source, stories: no NE question for train in 1 sect"),
        (b"caf\xe9\n", r"stories: not UTF-8 \(at byte 4\); name another text"),
    ],
)
def test_a_text_without_questions(folder: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_text(folder, content)
    assert not (folder / "data").exists()


def cbt_archive(folder: Path, content: bytes) -> Any:
    """Write a small archive of CBT with the same questions in each file; return its source."""
    path = folder / "CBTest.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("train", "valid_2000ex", "test_2500ex"):
            for kind in ("NE", "CN"):
                info = tarfile.TarInfo(f"CBTest/data/cbtest_{kind}_{name}.txt")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return fetched(path)


def test_the_childrens_book_test(folder: Path) -> None:
    manifest = run(folder, source="cbt", cbt=cbt_archive(folder, f"{CBT}\n".encode() * 2))
    for name in ("NE", "CN"):
        data = ReaderData.load(folder / "data" / name)
        assert data.train.answers.tolist() == [3, 3]  # the fox
        assert len(data.dev) == 2 and manifest["kinds"][name]["found"] == 0
    message = "CBTest/data/cbtest_NE_train.txt in .*tgz, line 7: the line begins with '8'"
    with pytest.raises(DataError, match=message):
        run(folder, source="cbt", cbt=cbt_archive(folder, CBT.replace("7 The", "8 The").encode()))
    assert not (folder / "data").exists()


def test_who_did_what(folder: Path) -> None:
    (folder / "wdw.xml").write_text(WDW)
    files = dict.fromkeys(("train", "dev", "test"), fetched(folder / "wdw.xml"))
    assert list(run(folder, source="whodidwhat", whodidwhat=files)["kinds"]) == ["WDW"]
    written = folder / "data" / "WDW"
    assert len(QuestionTensors.load(written / "test.pt")) == 1
    assert sorted((written / "dev_candidates.tsv").read_text().split()) == ["@entity0", "@entity1"]
