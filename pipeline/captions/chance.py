"""Random values of facts: what a hypothesis claims of one, and what a premise may state of it."""

from random import Random

from pipeline.captions.lexicon import Concept, Selection
from pipeline.captions.scenes import CONTRADICTION, ENTAILMENT, NEUTRAL, Value
from pipeline.parameters.schema import Captions

NEGATABLE = frozenset({"action", "weather", "colour", "mood", "headgear", "relation"})


class Chance(Random):
    """The random numbers of one purpose, such as a split, with the settings of the corpus."""

    def __init__(self, settings: Captions, purpose: str) -> None:
        super().__init__(f"captions {settings.seed} {purpose}")
        self.settings = settings

    def happens(self, share: float) -> bool:
        """True with a probability of `share`."""
        return self.random() < share


def pick(chance: Chance, concepts: tuple[Concept, ...]) -> Concept:
    """One concept: as in any language, a few are frequent and many are rare."""
    frequent = chance.happens(chance.settings.common)
    common = [concept for concept in concepts if frequent and "common" in concept.tags]
    return chance.choice(common or concepts)


def draw(chance: Chance, slot: str, concepts: tuple[Concept, ...]) -> Value:
    """Draw any value of a fact."""
    negated = slot in NEGATABLE and chance.happens(chance.settings.negated)
    backwards = slot == "relation" and chance.happens(0.5)
    return Value(slot, pick(chance, concepts), negated, backwards)


def _repeating(chance: Chance, claimed: Value, choices: Selection) -> Value:
    same = chance.happens(chance.settings.repeated)
    return claimed if same else _supporting(chance, claimed, choices)


def _supporting(chance: Chance, claimed: Value, choices: Selection) -> Value:
    near = choices.near[claimed.concept]
    if claimed.negated:
        if chance.happens(0.3):
            return _as(claimed, chance.choice((claimed.concept, *near.broader)), negated=True)
        return _other(chance, claimed, choices)
    if near.narrower and chance.happens(chance.settings.narrower):
        return _as(claimed, pick(chance, near.narrower))
    return claimed


def _excluding(chance: Chance, claimed: Value, choices: Selection) -> Value:
    near = choices.near[claimed.concept]
    if claimed.negated:
        return _as(claimed, chance.choice((claimed.concept, claimed.concept, *near.narrower)))
    if claimed.slot in NEGATABLE and chance.happens(chance.settings.negated):
        return _as(claimed, chance.choice((claimed.concept, *near.broader)), negated=True)
    return _other(chance, claimed, choices)


def _open_to(chance: Chance, claimed: Value, choices: Selection) -> Value | None:
    near = choices.near[claimed.concept]
    settings, roll = chance.settings, chance.random()
    if near.broader and roll < settings.broader:
        return _as(claimed, pick(chance, near.broader))
    if claimed.slot in NEGATABLE and near.siblings and roll > 1 - settings.negated:
        return _as(claimed, pick(chance, near.siblings), negated=True)
    return None


def _other(chance: Chance, claimed: Value, choices: Selection) -> Value:
    """Something that excludes the claimed concept: a relation turned round, or a co-hyponym."""
    near = choices.near[claimed.concept]
    if claimed.slot == "relation" and chance.happens(0.5):
        within = (claimed.concept, *near.narrower)
        return Value(claimed.slot, chance.choice(within), False, not claimed.backwards)
    related = near.siblings and chance.happens(chance.settings.siblings)
    return _as(claimed, pick(chance, near.siblings if related else near.disjoint))


def _as(claimed: Value, concept: Concept, negated: bool = False) -> Value:
    return Value(claimed.slot, concept, negated, claimed.backwards)


# By the label that a claim gets, a premise's statement of the fact, or None for nothing; without a
# label, that of a shared fact, which is mostly the claim itself.
STATEMENTS = {
    None: _repeating,
    ENTAILMENT: _supporting,
    NEUTRAL: _open_to,
    CONTRADICTION: _excluding,
}
