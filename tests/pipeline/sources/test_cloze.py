"""Questions from a text of our own."""

import subprocess
import sys
from random import Random

import pytest

from actmodels.errors import DataError
from pipeline.parameters.study_sections import ClozeText
from pipeline.sources.cbt import format_question
from pipeline.sources.cloze import (
    build_questions,
    common_nouns,
    draw_question,
    names,
    split_sections,
)
from tests.pipeline.project import ROOT
from tests.pipeline.sources.cloze_samples import NAMES, NOUNS, text

CONFIG = ClozeText(
    name="text",
    tokenised=True,
    paragraphs="lines",
    section_pattern="= [^=]+ =",
    section_sentences=30,
    left_out_pattern="",
    stride=3,
    min_noun_count=2,
    min_noun_share=0.1,
    dev_share=0.2,
    test_share=0.2,
    seed=1,
)


def tokens(*sentences: str) -> list[list[str]]:
    return [sentence.split() for sentence in sentences]


def test_names() -> None:
    found = names(
        tokens(
            "Once Anna met the King of Norway .",  # the text writes a king, too
            "A king slept .",
            'She said , " Nobody came . "',  # may begin a sentence
            "At NATO and at McLean 's I saw Jean-Luc in May .",  # NATO: no small letter
            "Bertil left .",  # at a beginning alone
        )
    )
    assert found == {"Anna", "Norway", "McLean", "Jean-Luc", "May"}


def test_common_nouns() -> None:
    found = common_nouns(
        tokens(
            "The lobster is blue .",
            "He saw a lobster .",
            "The blue lobster and the red and the old lobster swam in the sea .",  # red: no
            "The sea is old .",
            "The first is gone ; the few are here .",  # function words
            "The Lobster is a film .",
        ),
        min_count=2,
        min_share=0.1,
    )
    assert found == {"lobster", "sea"}
    sentences = tokens("the cut is deep .", *["they cut it ."] * 9)  # seldom a noun
    assert common_nouns(sentences, 1, 0.1) == {"cut"}
    assert common_nouns(sentences, 1, 0.2) == set()


def test_questions_are_what_they_say() -> None:
    built = build_questions(text(), "text", CONFIG)
    for kind, words in (("NE", set(NAMES)), ("CN", set(NOUNS))):
        for questions in built[kind].values():  # type: ignore[index]
            assert questions
            for question in questions:
                assert len(question.sentences) == 20
                assert question.query.count("XXXXX") == 1
                assert question.answer in question.candidates
                assert len(set(question.candidates)) == 10
                assert set(question.candidates) <= words & set(question.document)
                assert not set(question.candidates) & set(question.query)
    places = {question.candidates.index(question.answer) for question in built["NE"]["train"]}
    assert len(places) > 5


def test_the_query_is_the_sentence_behind_the_document() -> None:
    for question in build_questions(text(), "text", CONFIG)["CN"]["train"]:
        whole = [question.answer if word == "XXXXX" else word for word in question.query]
        section, last = question.sentences[-1][2], int(question.sentences[-1][3])
        assert whole[:4] == ["On", "day", section, str(last + 1)]
        assert [int(sentence[3]) for sentence in question.sentences] == list(
            range(last - 19, last + 1)
        )
        assert {sentence[2] for sentence in question.sentences} == {section}
        assert (last - 19) % 3 == 0  # the stride


def test_splits_share_no_text() -> None:
    for splits in build_questions(text(), "text", CONFIG).values():
        seen = [
            {" ".join(s) for q in questions for s in [*q.sentences]}
            for questions in splits.values()
        ]
        assert not (seen[0] & seen[1] or seen[0] & seen[2] or seen[1] & seen[2])
        days = [{s[2] for q in questions for s in q.sentences} for questions in splits.values()]
        assert [len(section) for section in days] == [6, 2, 2]


def test_questions_of_one_section_say_so() -> None:
    for splits in build_questions(text(), "text", CONFIG).values():
        days = {(q.article, q.sentences[0][2]) for questions in splits.values() for q in questions}
        assert len(days) == len({article for article, _ in days}) == 10


def test_every_section_is_in_one_split() -> None:
    parts = split_sections(13, CONFIG.model_copy(update={"dev_share": 0.25, "test_share": 0.1}))
    assert [len(part) for part in parts.values()] == [9, 3, 1]
    assert sorted(number for part in parts.values() for number in part) == list(range(13))


def test_a_seed_says_everything() -> None:
    def lines_of(seed: int) -> list[str]:
        built = build_questions(text(), "text", CONFIG.model_copy(update={"seed": seed}))
        return [format_question(q) for splits in built.values() for s in splits.values() for q in s]

    assert lines_of(1) == lines_of(1) != lines_of(2)


@pytest.mark.slow
def test_the_same_in_another_process() -> None:
    """Whose sets have another order."""
    code = (
        "from tests.pipeline.sources.test_cloze import CONFIG, build_questions, text\n"
        "print(build_questions(text(), 'text', CONFIG))"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("1", "2")
    ]
    assert found[0] == found[1] != b""


def test_a_word_that_the_query_has_twice_is_no_candidate() -> None:
    context = tokens(*(f"{name} spoke ." for name in [*NAMES, *NAMES][:20]))
    draw = Random(0)
    assert draw_question(context, ["Anna", "saw", "Anna", "."], set(NAMES), draw) is None
    for _ in range(20):
        once = draw_question(context, ["Anna", "saw", "Anna", "Lena"], set(NAMES), draw)
        assert once is not None and once.answer == "Lena"
        assert "Anna" not in once.candidates  # nor offered: the query has it


def test_too_few_candidates_or_an_answer_elsewhere() -> None:
    context = tokens(*(f"{name} spoke ." for name in [*NAMES[:10]] * 2))
    draw = Random(0)
    assert draw_question(context, ["Lena", "."], set(NAMES), draw) is None  # not in the document
    assert draw_question(context, ["Anna", "."], set(NAMES), draw) is not None
    assert draw_question(context, ["Anna", "Igor"], set(NAMES), draw) is None  # 8 others


def test_every_split_has_questions() -> None:
    with pytest.raises(DataError, match=r"^text: no NE question for dev in 0 sections; expected a"):
        build_questions(text(), "text", CONFIG.model_copy(update={"dev_share": 0.0}))
