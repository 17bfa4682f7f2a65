"""Files of the Children's Book Test and of Who-Did-What, sentences of a text, and encoding."""

from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import DataError
from studies.cloze.question import (
    BLANK,
    ClozeQuestion,
    count_words,
    encode_questions,
    format_question,
    parse_questions,
)
from studies.cloze.sources import anonymize, read_questions, sections, split_sentences
from tests.studies.cloze.cloze_samples import lines, question
from tests.studies.cloze.test_sources import CONFIG

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
Golden = Callable[[str, str], None]


def parsed(content: list[str], newline: str = "\n") -> list[ClozeQuestion]:
    return list(parse_questions(((line + newline).encode() for line in content), "questions.txt"))


@pytest.mark.parametrize("newline", ["", "\n", "\r\n"])
def test_empty_lines_separate_questions(newline: str) -> None:
    questions = parsed(["", *lines(), "", "  ", *lines()[:-1]], newline)
    assert questions == [question()] * 2
    assert questions[0].document[:6] == ["The", "hen", "saw", "hen", "0", "."]
    assert format_question(question()) == "\n".join(lines())


CBT_CHANGES = [
    *(
        ("7 The", "7.The"),
        ("1 The hen saw hen 0 .", "1 "),
        ("XXXXX", "hen"),
        ("\tfox\t", "\twolf\t"),
    ),
    *(("|rat", ""), ("|rat", "|hen"), ("|rat", "|"), ("\tfox\t\t", "\tfox\t")),
    *(("saw fox", "saw elk"), ("\n13 ", "\n\n13 "), ("\n".join(lines()), " ")),
]
WDW_CHANGES = [
    *(("</mc>", ""), ("mc>", "md>"), ("rightcontext", "right"), ('correct="true"', "")),
    *((">Ann Lee</choice>", "></choice>"), (">Ann Lee</ch", ">Bob Ray</ch")),
    *((">Bob Ray</ch", ">Al Poe</ch"), ('<choice correct="false" idx="0">Ann Lee</choice>', "")),
]


def test_malformed_files(tmp_path: Path, golden: Golden) -> None:
    """Each names its file, line or question, and what is expected."""
    found = []
    for read, text, changes in (
        (lambda text: parsed(text.split("\n")), "\n".join(lines()), CBT_CHANGES),
        (lambda text: read_wdw(tmp_path, text), WDW, WDW_CHANGES),
    ):
        for old, new in changes:
            assert old in text
            with pytest.raises(DataError) as caught:
                read(text.replace(old, new))
            found.append(str(caught.value).replace(f"{tmp_path}/", ""))
    golden("cloze_files.txt", "\n".join([*found, ""]))


def test_counts_and_encoding_by_hand() -> None:
    first = ClozeQuestion(
        [["Bill", "met", "Ann"], ["Ann", "left", "bill"]],
        ["XXXXX", "left"],
        ["Ann", "Bill", "Zoe"],
        "Ann",
    )
    second = ClozeQuestion([["a", "b"]], ["b", "XXXXX"], ["b", "a"], "a")
    counts = [("Ann", 2), ("left", 2), ("Bill", 1), ("bill", 1), ("met", 1)]
    assert count_words([first]) == counts  # words of queries count, blanks do not
    split = encode_questions([first, second], {"Ann": 3, "left": 4, "b": 5})
    assert split.document_ids.tolist() == [1, 1, 3, 3, 4, 1, 1, 5]
    assert split.document_offsets.tolist() == [0, 6, 8]
    assert split.query_ids.tolist() == [2, 4, 5, 2]
    assert split.query_offsets.tolist() == [0, 2, 4]
    # candidates are case-sensitive; unknown words differ by their position
    assert split.candidate_at.tolist() == [1, -1, 0, 0, -1, -1, 1, 0]
    assert split.candidate_counts.tolist() == [3, 2]
    assert split.answers.tolist() == [0, 1]


def read_wdw(folder: Path, content: str, seed: int = 0) -> list[ClozeQuestion]:
    (folder / "train.xml").write_text(content, encoding="utf-8")
    return list(read_questions(folder / "train.xml", seed))


def test_names_are_replaced_by_numbers_that_depend_only_on_the_seed(tmp_path: Path) -> None:
    (one,) = read_wdw(tmp_path, WDW)
    ann, bob = one.candidates
    assert {ann, bob} == {"@entity0", "@entity1"} and one.answer == bob
    assert one.query == ["On", "Monday", ann, "&", BLANK, "met", "."]
    assert one.sentences == [
        ["Mayor", bob, "spoke", "."],
        [ann, "sat", ",", "and", "Ann", "left", "."],
        [bob, "did", "not", "."],
    ]
    assert read_wdw(tmp_path, WDW, 1) == read_wdw(tmp_path, WDW, 1)
    assert len({read_wdw(tmp_path, WDW, seed)[0].answer for seed in range(12)}) == 2


def test_longer_names_take_precedence() -> None:
    tokens = ["Bob", "Ray", "and", "Bob"]
    assert anonymize(tokens, [["Bob"], ["Bob", "Ray"]], ["@a", "@b"]) == ["@b", "and", "@a"]


@pytest.mark.parametrize(
    "sentences",
    [
        "It rains.|We stay.",
        "Why?|Who knows!|Nobody.",
        "Mr. Low met Dr. Poe.|They sat.",
        "J. Low wrote it.|So did H. G. Poe.",
        "He came at 5 p.m. on Monday.",
        "It costs ca. 5.|Wait ... and see.",
        '"Go."|He went.|(So be it.)|Then',
        "“Stop!” she said.|“No.”",
        "no end here",
        "It rains .|We stay .",
        'He said , " Go . "|Then he left .',
        'He left .|" Go , " I said .',
        "`` Go ! ''|He went .",
        "It was H. <unk> .|<unk> ran .",
        "",
    ],
)
def test_sentences_end_where_a_reader_ends_them(sentences: str) -> None:
    found = split_sentences(sentences.replace("|", " ").split())
    assert "|".join(" ".join(words) for words in found) == sentences


def sectioned(text: list[str], **changes: object) -> list[list[str]]:
    subtitles = {"section_sentences": 21, "left_out_pattern": "= = .* = ="}
    found = sections(text, CONFIG.model_copy(update=subtitles | changes))
    return [[" ".join(sentence) for sentence in section] for section in found]


def test_sections_of_a_text() -> None:
    text = [" = One = ", "", "A b . C d .", " = = Part = = ", "E f", "G h .", "= Two =", "I j ."]
    repeated = ["I j .", "E f"]  # removed from the later section
    expected = [["A b .", "C d .", "E f", "G h ."], ["I j .", "I j ."]]
    assert sectioned(text + repeated) == expected
    paragraphs = ["A b", "c d . E", "f g .", "", "H i", "", "J", "= Two =", "K"]
    expected = [["A b c d .", "E f g .", "H i", "J"], ["K"]]
    assert sectioned(paragraphs, paragraphs="empty_lines") == expected
    untitled = sectioned([f"Line {n} ." for n in range(50)], section_pattern="")
    assert [len(section) for section in untitled] == [21, 21, 8]
    (tokenized,) = sectioned(["He didn't go, alas. She (too) stayed."], tokenized=False)
    assert tokenized == ["He did n't go , alas .", "She ( too ) stayed ."]
