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
from dataclasses import dataclass, replace
from random import Random

from pipeline.captions.judge import CONTRADICTION, ENTAILMENT, NEUTRAL, judge
from pipeline.captions.lexicon import GARMENTS, KINDS, PLACES, TIMES, WEATHER
from pipeline.captions.scenes import SCENE, Frame, Key, Meaning, Participant, Value, candidates
from pipeline.captions.values import claim, draw, excluding, open_to, repeating, supporting

ROTATION = (ENTAILMENT, NEUTRAL, CONTRADICTION)  # by (premise - hypothesis) modulo 3
MAX_DEPTH = 6
SPARE_FACTS = 3  # at most, that a premise is about besides those of one hypothesis; at least 2
# Kinds of fact that are stated, and decide, more often than others.
FAVOURED = {
    "weather": 6.0,
    "time": 5.0,
    "place": 4.0,
    "kind": 4.0,
    "action": 4.0,
    "relation": 3.0,
    "colour": 2.0,
}

LURES = 0.12  # share of facts that are wrong of one participant and true of the other
STATEMENTS = {
    None: repeating,
    ENTAILMENT: supporting,
    NEUTRAL: open_to,
    CONTRADICTION: excluding,
}


@dataclass(frozen=True)
class Group:
    """Three premises and three hypotheses, labelled as the module's table says."""

    premises: tuple[Meaning, ...]
    hypotheses: tuple[Meaning, ...]


def draw_pair(random: Random, label: str, depth: int) -> tuple[Meaning, Meaning]:
    """Premise and hypothesis of this label, the latter with `depth` facts (1 to MAX_DEPTH)."""
    group = draw_group(random, depth)
    column = random.randrange(3)
    row = (column + ROTATION.index(label)) % 3
    return group.premises[row], group.hypotheses[column]


def draw_ambiguous(random: Random, depth: int) -> tuple[Meaning, Meaning]:
    """A pair on which annotators differ: is "a dog" true of a scene with two of them?"""
    while True:
        premise, hypothesis = draw_pair(random, ENTAILMENT, depth)
        frame = hypothesis.frame
        many = [i for i in hypothesis.cast if frame.participants[i].plural]
        if many and not any((i, "count") in hypothesis.facts for i in many):
            ones = tuple(replace(who, plural=False) for who in frame.participants)
            return premise, replace(hypothesis, frame=replace(frame, participants=ones))


def draw_group(random: Random, depth: int) -> Group:
    """Draw until all nine pairs mean what they should."""
    while True:
        group = propose_group(random, depth)
        if group is not None and all(
            judge(premise, hypothesis) == ROTATION[(row - column) % 3]
            for row, premise in enumerate(group.premises)
            for column, hypothesis in enumerate(group.hypotheses)
        ):
            return group


def propose_group(random: Random, depth: int) -> Group | None:
    """A group by construction; None if one of its sentences would be odd."""
    frame = draw_frame(random)
    about = choose_keys(random, frame, depth + random.randint(2, SPARE_FACTS))
    chosen = favoured(random, random.sample(about, depth + 2))
    claims = {key: claim(random, key[1], candidates(frame, key)) for key in chosen}
    decisive, shared = chosen[:3], chosen[3:]
    hypotheses = []
    for key in decisive:
        facts = {k: claims[k] for k in chosen if k == key or k in shared}
        hypotheses.append(Meaning(frame, facts, cast(frame, facts)))
    premises = []
    for row in range(3):
        wanted = {key: ROTATION[(row - column) % 3] for column, key in enumerate(decisive)}
        premises.append(draw_premise(random, frame, about, claims, wanted))
    if all(plausible(meaning) for meaning in (*premises, *hypotheses)):
        return Group(tuple(premises), tuple(hypotheses))
    return None


def draw_premise(
    random: Random,
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
            facts[key] = draw(random, key[1], choices)
            continue
        stated = STATEMENTS[wanted.get(key)](random, claims[key], choices)
        if stated is not None:
            facts[key] = stated
        elif key[1] == "colour" and not frame.participants[key[0]].animal:
            bare |= {key[0]} if random.random() < 0.5 else set()
    for key, label in wanted.items():
        # The other participant has what this one lacks: words overlap, who has what does not.
        other = (1 - key[0], key[1])
        lures = label != ENTAILMENT and other in facts and other not in claims
        if (
            lures
            and claims[key].concept in candidates(frame, other).near
            and random.random() < LURES
        ):
            facts[other] = claims[key]
    return Meaning(frame, facts, tuple(range(len(frame.participants))), frozenset(bare))


def draw_frame(random: Random) -> Frame:
    """A scene of one or two participants."""
    outdoors = random.random() < 0.65
    two = random.random() < 0.7
    garments = random.sample(range(len(GARMENTS)), 2)
    families = ["adults", "people", "workers", "animals"] if outdoors or two else [
        "adults", "people", "workers"]  # fmt: skip
    first = random.choice(families)
    second = random.choice(["animals"] * 3 + [first if first == "workers" else "people"])
    participants = tuple(
        Participant(family, random.random() < 0.4, garment)
        for family, garment in zip([first, second][: 1 + two], garments, strict=False)
    )
    return Frame(participants, outdoors, two and random.random() < 0.35)


def choose_keys(random: Random, frame: Frame, number: int) -> list[Key]:
    """This many kinds of fact without repetition, the favoured ones more often."""
    return favoured(random, frame.statable())[:number]


def favoured(random: Random, keys: Sequence[Key]) -> list[Key]:
    """In random order, the favoured kinds of fact more often first (Efraimidis & Spirakis 2006)."""
    weighted = [(random.random() ** (1 / FAVOURED.get(key[1], 1.0)), key) for key in keys]
    return [key for _, key in sorted(weighted, reverse=True)]


def cast(frame: Frame, facts: dict[Key, Value]) -> tuple[int, ...]:
    """The participants that a hypothesis has to mention."""
    if (SCENE, "relation") in facts:
        return (0, 1)
    return tuple(i for i in range(len(frame.participants)) if any(k[0] == i for k in facts))


def plausible(meaning: Meaning) -> bool:
    """No ball games in the attic, no cows at home, no sunshine at midnight."""
    place = meaning.facts.get((SCENE, "place"))
    inside = place is not None and place.concept in INSIDE
    ashore = place is not None and place.concept not in NEAR_WATER
    for (_, slot), value in meaning.facts.items():
        concept = value.concept
        if slot == "action" and place is not None:
            barred = {"out" if inside else "in"} | ({"water"} if ashore else set())
            if barred & concept.tags:
                return False
        if slot == "kind" and inside and concept in UNHOUSED:
            return False
        shines = slot == "weather" and concept in FAIR and not value.negated
        if (slot == "weather" and inside) or (shines and _dark(meaning)):
            return False
    return True


INSIDE = frozenset(PLACES.below("indoors"))
NEAR_WATER = frozenset(PLACES.below("near the water")) | {PLACES["outdoors"]}
UNHOUSED = frozenset(KINDS.below("animal")) - frozenset(KINDS.below("dog", "cat"))
FAIR = frozenset(WEATHER.below("in good weather"))
DARK = frozenset(TIMES.below("in the evening", "at night"))


def _dark(meaning: Meaning) -> bool:
    time = meaning.facts.get((SCENE, "time"))
    return time is not None and time.concept in DARK
