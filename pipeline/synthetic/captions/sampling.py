"""Random values of facts: what a hypothesis claims of one, and what a premise may state of it."""

from random import Random

from pipeline.parameters.schema import Captions
from pipeline.synthetic.captions.lexicon import Concept, Selection
from pipeline.synthetic.captions.scenes import CONTRADICTION, ENTAILMENT, NEUTRAL, Value

NEGATABLE = frozenset({"action", "weather", "color", "mood", "headgear", "relation"})


class Sampler(Random):
    """The random numbers of one purpose, such as a split, with the settings of the corpus."""

    def __init__(self, settings: Captions, purpose: str) -> None:
        super().__init__(f"captions {settings.seed} {purpose}")
        self.settings = settings

    def happens(self, share: float) -> bool:
        """True with a probability of `share`."""
        return self.random() < share


def pick(sampler: Sampler, concepts: tuple[Concept, ...]) -> Concept:
    """One concept: as in any language, a few are frequent and many are rare."""
    frequent = sampler.happens(sampler.settings.common)
    common = [concept for concept in concepts if frequent and "common" in concept.tags]
    return sampler.choice(common or concepts)


def draw(sampler: Sampler, slot: str, concepts: tuple[Concept, ...]) -> Value:
    """Draw any value of a fact."""
    negated = slot in NEGATABLE and sampler.happens(sampler.settings.negated)
    backwards = slot == "relation" and sampler.happens(0.5)
    return Value(slot, pick(sampler, concepts), negated, backwards)


def _repeating(sampler: Sampler, claimed: Value, choices: Selection) -> Value:
    same = sampler.happens(sampler.settings.repeated)
    return claimed if same else _supporting(sampler, claimed, choices)


def _supporting(sampler: Sampler, claimed: Value, choices: Selection) -> Value:
    near = choices.near[claimed.concept]
    if claimed.negated:
        if sampler.happens(0.3):
            return _as(claimed, sampler.choice((claimed.concept, *near.hypernym)), negated=True)
        return _other(sampler, claimed, choices)
    if near.hyponym and sampler.happens(sampler.settings.hyponym):
        return _as(claimed, pick(sampler, near.hyponym))
    return claimed


def _excluding(sampler: Sampler, claimed: Value, choices: Selection) -> Value:
    near = choices.near[claimed.concept]
    if claimed.negated:
        return _as(claimed, sampler.choice((claimed.concept, claimed.concept, *near.hyponym)))
    if claimed.slot in NEGATABLE and sampler.happens(sampler.settings.negated):
        return _as(claimed, sampler.choice((claimed.concept, *near.hypernym)), negated=True)
    return _other(sampler, claimed, choices)


def _open_to(sampler: Sampler, claimed: Value, choices: Selection) -> Value | None:
    near = choices.near[claimed.concept]
    settings, roll = sampler.settings, sampler.random()
    if near.hypernym and roll < settings.hypernym:
        return _as(claimed, pick(sampler, near.hypernym))
    if claimed.slot in NEGATABLE and near.co_hyponym and roll > 1 - settings.negated:
        return _as(claimed, pick(sampler, near.co_hyponym), negated=True)
    return None


def _other(sampler: Sampler, claimed: Value, choices: Selection) -> Value:
    """Something that excludes the claimed concept: a relation turned round, or a co-hyponym."""
    near = choices.near[claimed.concept]
    if claimed.slot == "relation" and sampler.happens(0.5):
        within = (claimed.concept, *near.hyponym)
        return Value(claimed.slot, sampler.choice(within), False, not claimed.backwards)
    related = near.co_hyponym and sampler.happens(sampler.settings.co_hyponym)
    return _as(claimed, pick(sampler, near.co_hyponym if related else near.disjoint))


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
