"""Cloze questions from a sample text."""

from itertools import chain
from random import Random

from studies.cloze.section import ClozeText
from studies.cloze.sources import (
    build_questions,
    common_nouns,
    draw_question,
    names,
    sections,
    split_sections,
    split_sentences,
)
from tests.pipeline.project import study_file
from tests.studies.cloze.cloze_samples import NAMES, NOUNS, text

TEXT = study_file("sections/cloze")["cloze"]["data"]["text"]
TEXT |= {"section_sentences": 30, "left_out_pattern": "", "stride": 3, "seed": 1}
CONFIG = ClozeText(**TEXT | {"dev_share": 0.2, "test_share": 0.2})


def tokens(*sentences: str) -> list[list[str]]:
    return [sentence.split() for sentence in sentences]


def test_names() -> None:
    result = names(
        tokens(
            "Once Anna met the King of Norway .",  # the text also has "king"
            "A king slept .",
            'She said , " Nobody came . "',  # may begin a sentence
            "At NATO and at McLean 's I saw Jean-Luc in May .",  # NATO: no small letter
            "Bertil left .",  # only at the beginning
        )
    )
    assert result == {"Anna", "Norway", "McLean", "Jean-Luc", "May"}


def test_common_nouns() -> None:
    nouns = common_nouns(
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
    assert nouns == {"lobster", "sea"}
    sentences = tokens("the cut is deep .", *["they cut it ."] * 9)  # seldom a noun
    assert common_nouns(sentences, 1, 0.1) == {"cut"}
    assert common_nouns(sentences, 1, 0.2) == set()


def test_questions_of_a_text() -> None:
    built = build_questions(text(), "text", CONFIG)
    for kind, words in (("NE", set(NAMES)), ("CN", set(NOUNS))):
        for question in chain.from_iterable(built[kind].values()):
            assert question.query.count("XXXXX") == 1
            assert question.answer in question.candidates
            assert len(set(question.candidates)) == 10
            assert set(question.candidates) <= words & set(question.document)
            assert not set(question.candidates) & set(question.query)
            whole = [question.answer if word == "XXXXX" else word for word in question.query]
            section, last = question.sentences[-1][2], int(question.sentences[-1][3])
            assert whole[:4] == ["On", "day", section, str(last + 1)]  # the next sentence
            places = [sentence[2:4] for sentence in question.sentences]
            assert places == [[section, str(n)] for n in range(last - 19, last + 1)]
            assert (last - 19) % 3 == 0  # the stride
        # a section is an article of one split
        days = [{(q.article, q.sentences[0][2]) for q in split} for split in built[kind].values()]
        assert [len(sections) for sections in days] == [6, 2, 2]
        assert len(set.union(*days)) == len({article for article, _ in set.union(*days)}) == 10
    places = {question.candidates.index(question.answer) for question in built["NE"]["train"]}
    assert len(places) > 5
    assert build_questions(text(), "text", CONFIG) == built
    assert build_questions(text(), "text", CONFIG.model_copy(update={"seed": 2})) != built


def test_sizes_of_splits_are_rounded() -> None:
    parts = split_sections(13, CONFIG.model_copy(update={"dev_share": 0.25, "test_share": 0.1}))
    assert [len(part) for part in parts.values()] == [9, 3, 1]
    assert sorted(number for part in parts.values() for number in part) == list(range(13))


def test_words_that_do_not_qualify() -> None:
    context = tokens(*(f"{name} spoke ." for name in [*NAMES, *NAMES][:20]))
    draw = Random(0)
    assert draw_question(context, ["Anna", "saw", "Anna", "."], set(NAMES), draw) is None
    once = [draw_question(context, ["Anna", "saw", "Anna", "Lena"], set(NAMES), draw)] * 20
    # a word that occurs twice in the query is neither an answer nor a candidate
    assert all(q and q.answer == "Lena" and "Anna" not in q.candidates for q in once)
    context = tokens(*(f"{name} spoke ." for name in [*NAMES[:10]] * 2))
    assert draw_question(context, ["Lena", "."], set(NAMES), draw) is None  # not in the document
    assert draw_question(context, ["Anna", "."], set(NAMES), draw) is not None
    assert draw_question(context, ["Anna", "Igor"], set(NAMES), draw) is None  # 8 others


SENTENCES = """\
Why?|Who knows!|Nobody.
Mr. Low met Dr. Poe.|They sat.
J. Low wrote it.|So did H. G. Poe.
He came at 5 p.m. on Monday.
It costs ca. 5.|Wait ... and see.
"Go."|He went.|(So be it.)|Then
“Stop!” she said.|“No.”
He said , " Go . "|Then he left .
He left .|" Go , " I said .
`` Go ! ''|He went .
It was H. <unk> .|<unk> ran .

"""


def test_sentences_end_where_a_reader_ends_them() -> None:
    lines = SENTENCES.split("\n")
    found = (split_sentences(line.replace("|", " ").split()) for line in lines)
    assert ["|".join(" ".join(words) for words in sentences) for sentences in found] == lines


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
