"""What a hypothesis claims of one fact, and what a premise may state so that a label follows."""

from random import Random

from pipeline.captions.lexicon import Concept, Selection
from pipeline.captions.scenes import Value

NEGATABLE = frozenset({"action", "weather", "colour", "mood", "headgear", "relation"})
NEGATED = 0.05  # share of claims with "not", where it can be said

COMMON = 0.95  # share of draws that take a common concept where there is one
NARROWER = 0.25  # share of supporting statements that use a hyponym where there is one
REPEATED = 0.95  # share of shared facts that are the same in premise and hypothesis
SIBLINGS = 0.6  # share of excluding statements that use a co-hyponym where there is one
BROADER = 0.25  # share of open statements that use a hypernym where there is one


def pick(random: Random, concepts: tuple[Concept, ...]) -> Concept:
    """One concept: as in any language, a few are frequent and many are rare."""
    common = tuple(c for c in concepts if "common" in c.tags) if random.random() < COMMON else ()
    return random.choice(common or concepts)


def draw(random: Random, slot: str, choices: Selection) -> Value:
    """Any value."""
    return _any(random, slot, choices.concepts)


def claim(random: Random, slot: str, choices: Selection) -> Value:
    """A value that something else can exclude."""
    return _any(random, slot, choices.excludable)


def _any(random: Random, slot: str, concepts: tuple[Concept, ...]) -> Value:
    negated = slot in NEGATABLE and random.random() < NEGATED
    backwards = slot == "relation" and random.random() < 0.5
    return Value(slot, pick(random, concepts), negated, backwards)


def repeating(random: Random, claimed: Value, choices: Selection) -> Value:
    """Mostly the claim itself: what a hypothesis shares with its premise."""
    return claimed if random.random() < REPEATED else supporting(random, claimed, choices)


def supporting(random: Random, claimed: Value, choices: Selection) -> Value:
    """A statement that the claim follows from: itself, or something narrower."""
    near = choices.near[claimed.concept]
    if claimed.negated:
        if random.random() < 0.3:
            return _as(claimed, random.choice((claimed.concept, *near.broader)), negated=True)
        return _other(random, claimed, choices)
    if near.narrower and random.random() < NARROWER:
        return _as(claimed, pick(random, near.narrower))
    return claimed


def excluding(random: Random, claimed: Value, choices: Selection) -> Value:
    """A statement that the claim contradicts."""
    near = choices.near[claimed.concept]
    if claimed.negated:
        return _as(claimed, random.choice((claimed.concept, claimed.concept, *near.narrower)))
    if claimed.slot in NEGATABLE and random.random() < NEGATED:
        return _as(claimed, random.choice((claimed.concept, *near.broader)), negated=True)
    return _other(random, claimed, choices)


def open_to(random: Random, claimed: Value, choices: Selection) -> Value | None:
    """A statement that leaves the claim undecided; None states nothing."""
    near = choices.near[claimed.concept]
    roll = random.random()
    if near.broader and roll < BROADER:
        return _as(claimed, pick(random, near.broader))
    if claimed.slot in NEGATABLE and near.siblings and roll > 1 - NEGATED:
        return _as(claimed, pick(random, near.siblings), negated=True)
    return None


def _other(random: Random, claimed: Value, choices: Selection) -> Value:
    """Something that excludes the claimed concept: a relation turned round, or a co-hyponym."""
    near = choices.near[claimed.concept]
    if claimed.slot == "relation" and random.random() < 0.5:
        within = (claimed.concept, *near.narrower)
        return Value(claimed.slot, random.choice(within), False, not claimed.backwards)
    siblings = near.siblings if near.siblings and random.random() < SIBLINGS else near.disjoint
    return _as(claimed, pick(random, siblings))


def _as(claimed: Value, concept: Concept, negated: bool = False) -> Value:
    return Value(claimed.slot, concept, negated, claimed.backwards)
