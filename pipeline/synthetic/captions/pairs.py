"""Pairs of meanings with a wanted label and depth, in groups that leave no shortcut.

A group is three premises and three hypotheses. The hypotheses share depth - 1 facts, which all
three premises entail, and each adds a decisive fact of its own. Each premise entails one of the
decisive facts, leaves one open and excludes one, in rotation:

                   hypothesis 0    hypothesis 1    hypothesis 2
    premise 0      entailment      contradiction   neutral
    premise 1      neutral         entailment      contradiction
    premise 2      contradiction   neutral         entailment

So every premise and every hypothesis meets each label exactly once, and neither says anything
about the label on its own, however it is worded. A group is drawn again as a whole when the
meaning of one of its nine pairs does not have the label it should.
"""

from collections.abc import Sequence
from dataclasses import replace

from actmodels.errors import ConfigError
from pipeline.datasets.snli import UNLABELLED
from pipeline.synthetic.captions.lexicon import GARMENTS, VOCABULARIES
from pipeline.synthetic.captions.sampling import STATEMENTS, Sampler, draw
from pipeline.synthetic.captions.scenes import (
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

ROTATION = (ENTAILMENT, NEUTRAL, CONTRADICTION)  # by (premise - hypothesis) modulo 3
TRIES = 1000  # of a group; six in seven succeed where any can
SPARE_FACTS = 3  # at most, that a premise is about besides those of one hypothesis; at least 2
PLACES, KINDS = VOCABULARIES["place"], VOCABULARIES["kind"]
INSIDE = PLACES.below("indoors")
NEAR_WATER = (*PLACES.below("near the water"), PLACES["outdoors"])
UNHOUSED = set(KINDS.below("animal")) - set(KINDS.below("dog", "cat"))
FAIR = VOCABULARIES["weather"].below("in good weather")
DARK = VOCABULARIES["time"].below("in the evening", "at night")
Group = tuple[list[Meaning], list[Meaning]]  # premises and hypotheses of the module's table


def draw_pair(sampler: Sampler, label: str, depth: int) -> tuple[Meaning, Meaning]:
    """Premise and hypothesis of this label, "-" too, the latter with `depth` facts."""
    if label == UNLABELLED:
        return draw_ambiguous(sampler, depth)
    premises, hypotheses = draw_group(sampler, depth)
    column = sampler.randrange(3)
    return premises[(column + ROTATION.index(label)) % 3], hypotheses[column]


def draw_ambiguous(sampler: Sampler, depth: int) -> tuple[Meaning, Meaning]:
    """A pair on which annotators differ: is "a dog" true of a scene with two of them?"""
    while True:
        premise, hypothesis = draw_pair(sampler, ENTAILMENT, depth)
        frame = hypothesis.frame
        many = [i for i in hypothesis.cast if frame.participants[i].plural]
        if many and not any((i, "count") in hypothesis.facts for i in many):
            ones = tuple(replace(who, plural=False) for who in frame.participants)
            return premise, replace(hypothesis, frame=replace(frame, participants=ones))


def draw_group(sampler: Sampler, depth: int) -> Group:
    """Draw until all nine pairs have their labels; ConfigError if too few facts are stated."""
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
    """A group by construction; None if one of its sentences would be odd."""
    frame = draw_frame(sampler)
    number = depth + sampler.randint(2, SPARE_FACTS)
    about = favoured(sampler, frame.statable())[:number]
    if len(about) < depth + 2:
        return None
    chosen = favoured(sampler, sampler.sample(about, depth + 2))
    claims = {key: draw(sampler, key[1], candidates(frame, key).excludable) for key in chosen}
    decisive, shared = chosen[:3], chosen[3:]
    hypotheses = []
    for key in decisive:
        facts = {k: claims[k] for k in chosen if k == key or k in shared}
        hypotheses.append(Meaning(frame, facts, cast(frame, facts)))
    premises = []
    for row in range(3):
        wanted = {key: ROTATION[(row - column) % 3] for column, key in enumerate(decisive)}
        premises.append(draw_premise(sampler, frame, about, claims, wanted))
    return (premises, hypotheses) if all(map(plausible, premises + hypotheses)) else None


def draw_premise(
    sampler: Sampler,
    frame: Frame,
    about: list[Key],
    claims: dict[Key, Value],
    wanted: dict[Key, str],
) -> Meaning:
    """State the facts `about` so that each claim has its wanted label (entailment by default)."""
    facts: dict[Key, Value] = {}
    bare = set()
    for key in about:
        choices = candidates(frame, key)
        if key not in claims:
            facts[key] = draw(sampler, key[1], choices.concepts)
            continue
        stated = STATEMENTS[wanted.get(key)](sampler, claims[key], choices)
        if stated is not None:
            facts[key] = stated
        elif key[1] == "color" and not frame.participants[key[0]].animal:
            bare |= {key[0]} if sampler.happens(0.5) else set()
    for key, label in wanted.items():
        # The other participant has what this one lacks: words overlap, who has what does not.
        other = (1 - key[0], key[1])
        distractors = label != ENTAILMENT and other in facts and other not in claims
        if distractors and claims[key].concept in candidates(frame, other).near:
            facts |= {other: claims[key]} if sampler.happens(sampler.settings.distractors) else {}
    return Meaning(frame, facts, tuple(range(len(frame.participants))), frozenset(bare))


def draw_frame(sampler: Sampler) -> Frame:
    """A scene of one or two participants."""
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


def favoured(sampler: Sampler, keys: Sequence[Key]) -> list[Key]:
    """Those spoken of at all in random order, by their weights (Efraimidis & Spirakis 2006)."""
    weights = sampler.settings.facts
    weighted = [(sampler.random() ** (1 / weights[k[1]]), k) for k in keys if weights[k[1]]]
    return [key for _, key in sorted(weighted, reverse=True)]


def cast(frame: Frame, facts: dict[Key, Value]) -> tuple[int, ...]:
    """The participants that a hypothesis has to mention."""
    if (SCENE, "relation") in facts:
        return (0, 1)
    return tuple(i for i in range(len(frame.participants)) if any(k[0] == i for k in facts))


def plausible(meaning: Meaning) -> bool:
    """No ball games in the attic, no cows at home, no sunshine at midnight."""
    place, time = (meaning.facts.get((SCENE, slot)) for slot in ("place", "time"))
    inside = place is not None and place.concept in INSIDE
    ashore = place is not None and place.concept not in NEAR_WATER
    dark = time is not None and time.concept in DARK
    barred = {"out" if inside else "in"} | ({"water"} if ashore else set())
    for (_, slot), value in meaning.facts.items():
        concept = value.concept
        odd = {
            "action": place is not None and not barred.isdisjoint(concept.tags),
            "kind": inside and concept in UNHOUSED,
            "weather": inside or (dark and concept in FAIR and not value.negated),
        }
        if odd.get(slot):
            return False
    return True
