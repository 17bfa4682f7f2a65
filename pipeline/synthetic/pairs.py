"""Draw pairs of meanings with a given label and depth, in groups without shortcuts.

A group has three premises and three hypotheses. The hypotheses share depth - 1 facts, which all
premises entail, and each adds a decisive fact. Each premise entails one decisive fact, leaves one
open and excludes one, in rotation:

                   hypothesis 0    hypothesis 1    hypothesis 2
    premise 0      entailment      contradiction   neutral
    premise 1      neutral         entailment      contradiction
    premise 2      contradiction   neutral         entailment

So each premise and each hypothesis occurs once with each label, and neither alone predicts the
label, whatever its wording. A group is redrawn until its nine pairs have these labels.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from actmodels.errors import ConfigError
from pipeline.datasets.pairs import UNLABELED
from pipeline.parameters.schema import Captions
from pipeline.synthetic.lexicon import CONCEPTS, GARMENTS, Concept, Neighbors
from pipeline.synthetic.scenes import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    SCENE,
    Frame,
    Key,
    Meaning,
    Participant,
    Value,
    candidates,
    judge,
)

NEGATABLE = frozenset({"action", "weather", "color", "mood", "headgear", "relation"})
ROTATION = (ENTAILMENT, NEUTRAL, CONTRADICTION)  # (premise - hypothesis) % 3
TRIES = 1000  # per group; where facts suffice, six of seven tries succeed
EXTRA_FACTS = 3  # maximum number of facts of a premise beyond those of one hypothesis; minimum 2
PLACES, KINDS = CONCEPTS["place"], CONCEPTS["kind"]
INSIDE = PLACES.below("indoors")
NEAR_WATER = (*PLACES.below("near the water"), PLACES["outdoors"])
OUTDOOR_ANIMALS = set(KINDS.below("animal")) - set(KINDS.below("dog", "cat"))
FAIR = CONCEPTS["weather"].below("in good weather")
DARK = CONCEPTS["time"].below("in the evening", "at night")
Group = tuple[list[Meaning], list[Meaning]]  # premises and hypotheses


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


def draw_pair(sampler: Sampler, label: str, depth: int) -> tuple[Meaning, Meaning]:
    """Draw a premise and a hypothesis of `depth` facts with this label, which may be "-"."""
    if label == UNLABELED:
        return draw_ambiguous(sampler, depth)
    premises, hypotheses = draw_group(sampler, depth)
    column = sampler.randrange(3)
    return premises[(column + ROTATION.index(label)) % 3], hypotheses[column]


def draw_ambiguous(sampler: Sampler, depth: int) -> tuple[Meaning, Meaning]:
    """Draw a pair on which annotators disagree: does a scene with two dogs entail "a dog"?"""
    while True:
        premise, hypothesis = draw_pair(sampler, ENTAILMENT, depth)
        frame = hypothesis.frame
        plural = [i for i in hypothesis.cast if frame.participants[i].plural]
        if plural and not any((i, "count") in hypothesis.facts for i in plural):
            singular = tuple(replace(who, plural=False) for who in frame.participants)
            return premise, replace(hypothesis, frame=replace(frame, participants=singular))


def draw_group(sampler: Sampler, depth: int) -> Group:
    """Draw groups until all nine pairs have their labels; raise ConfigError after TRIES."""
    for _ in range(TRIES):
        group = propose_group(sampler, depth)
        if group is not None and all(
            judge(premise, hypothesis) == ROTATION[(row - column) % 3]
            for row, premise in enumerate(group[0])
            for column, hypothesis in enumerate(group[1])
        ):
            return group
    problem = f"corpus.captions: {TRIES:,} tries gave no sentences of {depth} facts"
    advice = "give more of facts a weight above 0, or lower max_depth"
    raise ConfigError("params.yaml", [f"{problem}; {advice}"])


def propose_group(sampler: Sampler, depth: int) -> Group | None:
    """Construct a group; return None if a sentence is implausible."""
    frame = draw_frame(sampler)
    count = depth + sampler.randint(2, EXTRA_FACTS)
    stated = weighted_order(sampler, frame.statable())[:count]
    if len(stated) < depth + 2:
        return None
    keys = weighted_order(sampler, sampler.sample(stated, depth + 2))
    claims = {key: draw(sampler, key[1], candidates(frame, key).excludable) for key in keys}
    decisive, shared = keys[:3], keys[3:]
    hypotheses = []
    for key in decisive:
        facts = {k: claims[k] for k in keys if k == key or k in shared}
        hypotheses.append(Meaning(frame, facts, cast(frame, facts)))
    premises = []
    for row in range(3):
        labels = {key: ROTATION[(row - column) % 3] for column, key in enumerate(decisive)}
        premises.append(draw_premise(sampler, frame, stated, claims, labels))
    return (premises, hypotheses) if all(map(plausible, premises + hypotheses)) else None


def draw_premise(
    sampler: Sampler,
    frame: Frame,
    keys: list[Key],
    claims: dict[Key, Value],
    labels: dict[Key, str],
) -> Meaning:
    """Draw a premise that gives decisive claims their `labels` and entails the other claims."""
    facts: dict[Key, Value] = {}
    bare = set()
    for key in keys:
        selection = candidates(frame, key)
        if (claim := claims.get(key)) is None:
            facts[key] = draw(sampler, key[1], selection.concepts)
            continue
        value = STATEMENTS[labels.get(key)](sampler, claim, selection.near[claim.concept])
        if value is not None:
            facts[key] = value
        elif key[1] == "color" and not frame.participants[key[0]].animal and sampler.happens(0.5):
            bare.add(key[0])
    for key, label in labels.items():
        # A distractor: the other participant gets the value that this one lacks.
        other = (1 - key[0], key[1])
        if label == ENTAILMENT or other not in facts or other in claims:
            continue
        possible = claims[key].concept in candidates(frame, other).near
        if possible and sampler.happens(sampler.settings.distractors):
            facts[other] = claims[key]
    return Meaning(frame, facts, tuple(range(len(frame.participants))), frozenset(bare))


def draw_frame(sampler: Sampler) -> Frame:
    """Draw a scene of one or two participants."""
    outdoors = sampler.happens(0.65)
    two = sampler.happens(0.7)
    garments = sampler.sample(range(len(GARMENTS)), 2)
    families = ["adults", "people", "workers"] + ["animals"] * (outdoors or two)
    first = sampler.choice(families)
    second = sampler.choice(["animals"] * 3 + [first if first == "workers" else "people"])
    participants = tuple(
        Participant(family, sampler.happens(0.4), garment)
        for family, garment in zip([first, second][: 1 + two], garments, strict=False)
    )
    return Frame(participants, outdoors, two and sampler.happens(0.35))


def weighted_order(sampler: Sampler, keys: Sequence[Key]) -> list[Key]:
    """Shuffle the facts of nonzero weight by weight (Efraimidis & Spirakis 2006)."""
    weights = sampler.settings.facts
    weighted = [(sampler.random() ** (1 / weights[k[1]]), k) for k in keys if weights[k[1]]]
    return [key for _, key in sorted(weighted, reverse=True)]


def cast(frame: Frame, facts: dict[Key, Value]) -> tuple[int, ...]:
    """Return the participants that a hypothesis must mention."""
    if (SCENE, "relation") in facts:
        return (0, 1)
    return tuple(i for i in range(len(frame.participants)) if any(k[0] == i for k in facts))


def plausible(meaning: Meaning) -> bool:
    """Reject ball games in the attic, cows at home, sunshine at midnight."""
    place, time = (meaning.facts.get((SCENE, slot)) for slot in ("place", "time"))
    inside = place is not None and place.concept in INSIDE
    ashore = place is not None and place.concept not in NEAR_WATER
    dark = time is not None and time.concept in DARK
    barred = {"out" if inside else "in"} | ({"water"} if ashore else set())
    return not any(
        (slot == "action" and place is not None and not barred.isdisjoint(value.concept.tags))
        or (slot == "kind" and inside and value.concept in OUTDOOR_ANIMALS)
        or (
            slot == "weather" and (inside or (dark and value.concept in FAIR and not value.negated))
        )
        for (_, slot), value in meaning.facts.items()
    )
