"""Wordings of meanings, and their grammar."""

import re

from pipeline.datasets.tokenizer import read_parse, tokenize
from pipeline.synthetic.pairs import ROTATION, draw_pair
from pipeline.synthetic.sentences import realize
from tests.pipeline.synthetic.build import MANY, ONE, PET, meaning, sampler


def wordings(*participants: object, **facts: str) -> set[str]:
    random = sampler(0)
    return {realize(random, meaning(*participants, **facts)) for _ in range(3000)}  # type: ignore


def test_one_fact() -> None:
    assert wordings(kind="boy") == {"There is a boy.", "There is a lad."}
    assert wordings(weather="not in the rain") == {"It is not raining."}
    assert wordings(time="at midnight") == {
        "This is happening at midnight.", "This takes place at midnight.",
        "The scene is set at midnight."}  # fmt: skip


def test_the_article_follows_the_next_word() -> None:
    old_girl = {"There is an old girl.", "There is an elderly girl."}
    assert wordings(kind="girl", age="old") >= old_girl
    sentences = wordings(color="orange")
    assert sentences == {f"There is someone {worn} an orange shirt." for worn in ("in", "wearing")}


def test_a_plural_subject_agrees() -> None:
    sentences = wordings(MANY, kind="woman", count="two", action="eating an apple")
    assert "Two women are eating apples." in sentences
    assert "There are a pair of women eating apples." in sentences
    assert not any(" is " in sentence or "an apple" in sentence for sentence in sentences)


def test_not_reaches_the_action_alone() -> None:
    sentences = wordings(kind="man", action="not running", place="in the attic")
    assert sentences == {
        f"In the attic, a {noun} is not running." for noun in ("man", "gentleman", "guy")
    }


def test_roles_in_active_and_passive() -> None:
    facts = {"kind": "boy", "kind1": "poodle"}
    assert wordings(ONE, PET, **facts, relation="chasing") >= {
        "A boy is chasing a poodle.", "A poodle is being chased by a boy."}  # fmt: skip
    assert wordings(ONE, PET, **facts, relation="<chasing") >= {
        "A poodle is chasing a boy.", "A boy is being chased by a poodle."}  # fmt: skip


def test_two_participants_act() -> None:
    sentences = wordings(ONE, PET, kind="girl", action="reading", action1="sleeping")
    assert {"A girl is reading while an animal is sleeping.",
            "An animal is sleeping and a girl is reading."} <= sentences  # fmt: skip


def test_generated_sentences_are_well_formed() -> None:
    random = sampler(1)
    for number in range(1500):
        pair = draw_pair(random, ROTATION[number % 3], 1 + number % 6)
        for sentence in (realize(random, pair[0]), realize(random, pair[1])):
            assert re.fullmatch(r"[A-Z][A-Za-z,'\- ]+[a-z]\.", sentence), sentence
            assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]|  | ,|,,", sentence), sentence
            assert not re.search(r"\b(some|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive) \w+ is\b", sentence)
            assert sentence.count(" while ") <= 1, sentence
            parse = read_parse(sentence.parse)
            assert parse is not None and parse.leaves == [*tokenize(sentence, lowercase=False)]


def test_a_caption_has_its_parse() -> None:
    caption = realize(
        sampler(0), meaning(ONE, kind="man", action="not running", place="in the attic")
    )
    noun = caption.split()[4]
    parse = f"( ( ( In ( the attic ) ) ( , ( ( a {noun} ) ( is ( not running ) ) ) ) ) . )"
    assert caption.parse == parse
