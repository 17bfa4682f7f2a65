"""Wordings of meanings, and their grammar."""

import re
from collections.abc import Callable

from pipeline.datasets.tokenizer import read_parse, tokenize
from pipeline.synthetic.pairs import ROTATION, draw_pair
from pipeline.synthetic.sentences import realize
from tests.pipeline.project import transcribe
from tests.pipeline.synthetic.build import MANY, ONE, PET, meaning, sampler


def wordings(*participants: object, **facts: str) -> list[str]:
    random = sampler(0)
    scene = meaning(*participants, **facts)  # type: ignore[arg-type]
    return sorted({realize(random, scene) for _ in range(3000)})


def test_wordings(golden: Callable[..., None]) -> None:
    names = {"wordings": wordings, "ONE": ONE, "PET": PET, "MANY": MANY}
    transcribe(golden, "wordings.txt", names)


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
