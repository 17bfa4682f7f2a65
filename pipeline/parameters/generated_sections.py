"""The section of the generated corpus: how many pairs, and how hard they are."""

from typing import Annotated

from actmodels.values import Amount, Natural, Portion, Range, Share
from pipeline.parameters.section import Pairs, Section


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
    max_depth: Annotated[int, Range(ge=1, le=6)]  # the deepest there is
    facts: Facts
    common: Portion
    usual: Portion
    repeated: Portion
    narrower: Portion
    broader: Portion
    siblings: Portion
    negated: Portion
    lures: Portion
