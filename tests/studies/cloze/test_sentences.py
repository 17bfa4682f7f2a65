"""Split plain text into sections and sentences."""

from typing import Any

import pytest

from studies.cloze.section import ClozeText
from studies.cloze.sources import sections, split_sentences
from tests.studies.cloze.test_sources import CONFIG


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("It rains. We stay.", ["It rains.", "We stay."]),
        ("Why? Who knows! Nobody.", ["Why?", "Who knows!", "Nobody."]),
        ("Mr. Low met Dr. Poe. They sat.", ["Mr. Low met Dr. Poe.", "They sat."]),
        ("J. Low wrote it. So did H. G. Poe.", ["J. Low wrote it.", "So did H. G. Poe."]),
        ("He came at 5 p.m. on Monday.", ["He came at 5 p.m. on Monday."]),
        ("It costs ca. 5. Wait ... and see.", ["It costs ca. 5.", "Wait ... and see."]),
        ('"Go." He went. (So be it.) Then', ['"Go."', "He went.", "(So be it.)", "Then"]),
        ("“Stop!” she said. “No.”", ["“Stop!” she said.", "“No.”"]),
        ("no end here", ["no end here"]),
        ("It rains . We stay .", ["It rains .", "We stay ."]),
        ('He said , " Go . " Then he left .', ['He said , " Go . "', "Then he left ."]),
        ('He left . " Go , " I said .', ["He left .", '" Go , " I said .']),
        ("`` Go ! '' He went .", ["`` Go ! ''", "He went ."]),
        ("It was H. <unk> . <unk> ran .", ["It was H. <unk> .", "<unk> ran ."]),
        ("", []),
    ],
)
def test_sentences(paragraph: str, expected: list[str]) -> None:
    assert [" ".join(words) for words in split_sentences(paragraph.split())] == expected


def layout(**changes: Any) -> ClozeText:
    subtitles = {"section_sentences": 21, "left_out_pattern": "= = .* = ="}
    return CONFIG.model_copy(update=subtitles | changes)


def joined(parts: list[list[list[str]]]) -> list[list[str]]:
    return [[" ".join(sentence) for sentence in section] for section in parts]


def test_titles_begin_sections_and_subtitles_are_excluded() -> None:
    text = [" = One = ", "", "A b . C d .", " = = Part = = ", "E f", "G h .", "= Two =", "I j ."]
    repeated = ["I j .", "E f"]  # removed from the later section
    result = joined(sections(text + repeated, layout()))
    assert result == [["A b .", "C d .", "E f", "G h ."], ["I j .", "I j ."]]


def test_empty_lines_separate_paragraphs() -> None:
    text = ["A b", "c d . E", "f g .", "", "H i", "", "J", "= Two =", "K"]
    result = sections(text, layout(paragraphs="empty_lines"))
    assert joined(result) == [["A b c d .", "E f g .", "H i", "J"], ["K"]]


def test_sections_without_titles_have_one_length() -> None:
    text = [f"Line {n} ." for n in range(50)]
    result = sections(text, layout(section_pattern="", section_sentences=21))
    assert [len(section) for section in result] == [21, 21, 8]


def test_tokenization() -> None:
    (section,) = sections(["He didn't go, alas. She (too) stayed."], layout(tokenized=False))
    assert section == [
        ["He", "did", "n't", "go", ",", "alas", "."],
        ["She", "(", "too", ")", "stayed", "."],
    ]
