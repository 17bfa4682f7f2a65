"""The section of the generated corpus: how many pairs, and how hard they are."""

from typing import Annotated

from pydantic import Field

from pipeline.parameters.section import Amount, Natural, Pairs, Portion, Section, Share, must_be


class Facts(Section):
    """How often each kind of fact is spoken of, as a weight beside the others'; 0: never."""

    kind: Amount
    count: Amount
    age: Amount
    size: Amount
    colour: Amount
    mood: Amount
    headgear: Amount
    action: Amount
    relation: Amount
    place: Amount
    time: Amount
    day: Amount
    weather: Amount


class Captions(Section):
    """Size, seed and difficulty of the embedded corpus."""

    seed: Natural
    train: Pairs
    dev: Pairs
    test: Pairs
    unlabelled: Share
    max_depth: Annotated[
        int, Field(ge=1, le=6), must_be("a whole number from 1 to 6, the deepest there is")
    ]
    facts: Facts
    common: Portion
    usual: Portion
    repeated: Portion
    narrower: Portion
    broader: Portion
    siblings: Portion
    negated: Portion
    lures: Portion
