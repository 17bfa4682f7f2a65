"""Read a sample file in the layout of Who-Did-What."""

from pathlib import Path

import pytest

from actmodels.errors import DataError
from studies.cloze.question import BLANK, ClozeQuestion
from studies.cloze.sources import anonymize, read_questions

FILE = """<?xml version="1.0" encoding="UTF-8"?>
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


def read(folder: Path, content: str, seed: int = 0) -> list[ClozeQuestion]:
    (folder / "train.xml").write_text(content, encoding="utf-8")
    return list(read_questions(folder / "train.xml", seed))


def test_names_are_replaced(tmp_path: Path) -> None:
    (question,) = read(tmp_path, FILE)
    ann, bob = question.candidates
    assert {ann, bob} == {"@entity0", "@entity1"}
    assert question.answer == bob
    assert question.query == ["On", "Monday", ann, "&", BLANK, "met", "."]
    assert question.sentences == [
        ["Mayor", bob, "spoke", "."],
        [ann, "sat", ",", "and", "Ann", "left", "."],
        [bob, "did", "not", "."],
    ]


def test_numbers_depend_only_on_the_seed(tmp_path: Path) -> None:
    assert read(tmp_path, FILE, 1) == read(tmp_path, FILE, 1)
    assert len({read(tmp_path, FILE, seed)[0].answer for seed in range(12)}) == 2


def test_longer_names_take_precedence() -> None:
    tokens = ["Bob", "Ray", "and", "Bob"]
    assert anonymize(tokens, [["Bob"], ["Bob", "Ray"]], ["@a", "@b"]) == ["@b", "and", "@a"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</mc>", "", r"not XML \(mismatched tag: line 10, .*\); expected a file of Who-Did-What"),
        ("mc>", "md>", r"train\.xml has no questions; expected elements <mc>"),
        ("rightcontext", "right", "question 1: 0 elements <rightcontext>; expected one"),
        ('correct="true"', "", 'question 1: 0 choices with correct="true"; expected one'),
        (">Ann Lee</choice>", "></choice>", "question 1: 2 elements <choice>; expected different"),
        (">Ann Lee</ch", ">Bob Ray</ch", "question 1: 2 elements <choice>; expected different"),
        (">Bob Ray</ch", ">Al Poe</ch", "question 1: the answer 'Al Poe' is not in the article"),
        ('<choice correct="false" idx="0">Ann Lee</choice>', "", "question 1: 1 elements <choice>"),
    ],
)
def test_malformed(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, FILE.replace(old, new))
