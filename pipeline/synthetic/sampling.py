"""Draw the values of facts: the claims of a hypothesis, and the statements of a premise."""

from random import Random

from pipeline.parameters.corpus import Captions
from pipeline.synthetic.lexicon import Concept, Neighbors
from pipeline.synthetic.scenes import CONTRADICTION, ENTAILMENT, NEUTRAL, Value

NEGATABLE = frozenset({"action", "weather", "color", "mood", "headgear", "relation"})


class Sampler(Random):
    """The random numbers for one purpose, such as a split, and the settings of the corpus."""

    def __init__(self, settings: Captions, purpose: str) -> None:
        super().__init__(f"captions {settings.seed} {purpose}")
        self.settings = settings

    def happens(self, probability: float) -> bool:
        """Return True with a probability."""
        return self.random() < probability


def pick(sampler: Sampler, concepts: tuple[Concept, ...]) -> Concept:
    """Draw a concept; concepts tagged as common are drawn more often."""
    frequent = sampler.happens(sampler.settings.common)
    common = [concept for concept in concepts if frequent and "common" in concept.tags]
    return sampler.choice(common or concepts)


def draw(sampler: Sampler, slot: str, concepts: tuple[Concept, ...]) -> Value:
    """Draw any value of a fact."""
    negated = slot in NEGATABLE and sampler.happens(sampler.settings.negated)
    backwards = slot == "relation" and sampler.happens(0.5)
    return Value(slot, pick(sampler, concepts), negated, backwards)


def _shared(sampler: Sampler, claim: Value, near: Neighbors) -> Value:
    repeated = sampler.happens(sampler.settings.repeated)
    return claim if repeated else _entailing(sampler, claim, near)


def _entailing(sampler: Sampler, claim: Value, near: Neighbors) -> Value:
    if claim.negated:
        if sampler.happens(0.3):
            return _replaced(claim, sampler.choice((claim.concept, *near.hypernym)), negated=True)
        return _exclusive(sampler, claim, near)
    if near.hyponym and sampler.happens(sampler.settings.hyponym):
        return _replaced(claim, pick(sampler, near.hyponym))
    return claim


def _contradicting(sampler: Sampler, claim: Value, near: Neighbors) -> Value:
    if claim.negated:
        return _replaced(claim, sampler.choice((claim.concept, claim.concept, *near.hyponym)))
    if claim.slot in NEGATABLE and sampler.happens(sampler.settings.negated):
        return _replaced(claim, sampler.choice((claim.concept, *near.hypernym)), negated=True)
    return _exclusive(sampler, claim, near)


def _neutral(sampler: Sampler, claim: Value, near: Neighbors) -> Value | None:
    settings, roll = sampler.settings, sampler.random()
    if near.hypernym and roll < settings.hypernym:
        return _replaced(claim, pick(sampler, near.hypernym))
    if claim.slot in NEGATABLE and near.co_hyponym and roll > 1 - settings.negated:
        return _replaced(claim, pick(sampler, near.co_hyponym), negated=True)
    return None


def _exclusive(sampler: Sampler, claim: Value, near: Neighbors) -> Value:
    """Draw a value that excludes the claimed concept: a reversed relation or another concept."""
    if claim.slot == "relation" and sampler.happens(0.5):
        within = (claim.concept, *near.hyponym)
        return Value(claim.slot, sampler.choice(within), False, not claim.backwards)
    related = near.co_hyponym and sampler.happens(sampler.settings.co_hyponym)
    return _replaced(claim, pick(sampler, near.co_hyponym if related else near.disjoint))


def _replaced(claim: Value, concept: Concept, negated: bool = False) -> Value:
    return Value(claim.slot, concept, negated, claim.backwards)


# Label of a claim -> the function that draws the premise's statement (None: not stated). The key
# None is for shared facts, which mostly repeat the claim.
STATEMENTS = {
    None: _shared,
    ENTAILMENT: _entailing,
    NEUTRAL: _neutral,
    CONTRADICTION: _contradicting,
}
