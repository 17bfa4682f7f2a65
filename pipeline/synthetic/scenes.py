"""Meanings of sentences about a scene, and the label of a pair of meanings.

The label is inclusion, exclusion, or neither. The conventions are those of caption annotators:
premise and hypothesis describe one scene; its participants are those of the premise; each slot has
one value (someone who runs does not sleep); numbers are exact.
"""

from dataclasses import dataclass
from functools import cache

from pipeline.synthetic.lexicon import CONCEPTS, Concept, Selection

SCENE = -1  # the owner of facts about no participant
Key = tuple[int, str]  # a fact: owner (0, 1 or SCENE) and slot

FAMILIES = {"adults": ["adult"], "people": ["adult", "child"]}
FAMILIES |= {"workers": ["worker"], "animals": ["animal"]}
FUR = ("black", "white", "brown", "grey", "dark")
ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
VERDICTS = (CONTRADICTION, NEUTRAL, ENTAILMENT)  # from strong to weak


@dataclass(frozen=True)
class Participant:
    """The properties of a participant that premise and hypothesis share."""

    family: str
    plural: bool
    garment: int

    @property
    def animal(self) -> bool:
        """Whether the participant is an animal."""
        return self.family == "animals"

    def slots(self) -> tuple[str, ...]:
        """Return the slots of the participant, except its action."""
        slots = ["kind", "color"]
        slots += ["size"] if self.animal else ["mood", "headgear"]
        slots += ["age"] if self.family in ("adults", "workers") else []
        return tuple(slots + ["count"] * self.plural)


@dataclass(frozen=True)
class Frame:
    """The scene of a pair; with interaction, one of two participants acts on the other."""

    participants: tuple[Participant, ...]
    outdoors: bool
    interaction: bool

    def statable(self) -> tuple[Key, ...]:
        """Return all facts that a sentence can state."""
        keys = [(i, slot) for i, who in enumerate(self.participants) for slot in who.slots()]
        if self.interaction:
            keys.append((SCENE, "relation"))
        else:
            keys += [(i, "action") for i in range(len(self.participants))]
        keys += [(SCENE, slot) for slot in ("place", "time", "day")]
        return tuple(keys + [(SCENE, "weather")] * self.outdoors)


@dataclass(frozen=True)
class Value:
    """A concept, or its complement if negated; if backwards, participant 1 acts on 0."""

    slot: str
    concept: Concept
    negated: bool = False
    backwards: bool = False

    @property
    def atoms(self) -> int:
        """The possible atoms as bits."""
        atoms = self.concept.atoms
        if self.backwards:
            atoms = reverse(atoms)
        return all_atoms(self.slot) & ~atoms if self.negated else atoms


@dataclass(frozen=True)
class Meaning:
    """The facts of one sentence.

    cast: participants that the sentence mentions. bare: those whose garment has no color.
    """

    frame: Frame
    facts: dict[Key, Value]
    cast: tuple[int, ...]
    bare: frozenset[int] = frozenset()


RELATIONS = CONCEPTS["relation"].all_atoms


def all_atoms(slot: str) -> int:
    """Return the atoms of all values of a slot; a relation has atoms for both directions."""
    atoms = CONCEPTS[slot].all_atoms
    return atoms | atoms << RELATIONS.bit_length() if slot == "relation" else atoms


def reverse(atoms: int) -> int:
    """Return the atoms of a relation with its participants swapped."""
    bits = RELATIONS.bit_length()
    return (atoms & RELATIONS) << bits | atoms >> bits


def candidates(frame: Frame, key: Key) -> Selection:
    """Return the possible concepts of a fact of this scene."""
    owner, slot = key
    if owner == SCENE:
        family = "animals" if any(who.animal for who in frame.participants) else ""
    else:
        family = frame.participants[owner].family
    return _selection(slot, family, frame.outdoors)


@cache
def _selection(slot: str, family: str, outdoors: bool) -> Selection:
    vocabulary = CONCEPTS[slot]
    concepts = vocabulary.below(*vocabulary.concepts)
    animal = family == "animals"
    if slot == "place":
        here = vocabulary.below("outdoors" if outdoors else "indoors")
        concepts = (vocabulary["outdoors"], vocabulary["indoors"], *here[1:])
    elif slot == "kind":
        within = ("dog", "cat") if animal and not outdoors else FAMILIES[family]
        concepts = tuple(c for c in vocabulary.below(*within) if c.name != "animal")
    elif slot == "color" and animal:
        concepts = tuple(c for c in concepts if c.name in FUR)
    elif slot in ("action", "relation"):
        elsewhere = "in" if outdoors else "out"
        concepts = tuple(c for c in concepts if elsewhere not in c.tags)
        concepts = tuple(c for c in concepts if "animal" in c.tags or not animal)
    return Selection(concepts)


def judge(premise: Meaning, hypothesis: Meaning) -> str:
    """Return the weakest label over all castings.

    A casting maps the participants of the hypothesis to those of the premise.
    """
    castings = [(0, 1)]
    if len(premise.frame.participants) == 2 and hypothesis.cast:
        castings.append((1, 0))
    verdicts = (judge_casting(premise, hypothesis, casting) for casting in castings)
    return max(verdicts, key=VERDICTS.index)


def judge_casting(premise: Meaning, hypothesis: Meaning, casting: tuple[int, int]) -> str:
    """Return the label under one casting: the strongest verdict over all facts."""
    actors = hypothesis.frame.participants
    for owner in hypothesis.cast:
        actor, role = actors[owner], premise.frame.participants[casting[owner]]
        if (actor.animal, actor.plural) != (role.animal, role.plural):
            return CONTRADICTION
    verdicts = (judge_fact(premise, hypothesis, key, casting) for key in hypothesis.facts)
    return min(verdicts, key=VERDICTS.index)


def judge_fact(
    premise: Meaning, hypothesis: Meaning, key: Key, casting: tuple[int, int] = (0, 1)
) -> str:
    """Return the label of one fact of the hypothesis under one casting."""
    owner, slot = key
    cast_as = owner if owner == SCENE else casting[owner]
    if slot == "color" and cast_as != owner:
        worn, seen = hypothesis.frame.participants[owner], premise.frame.participants[cast_as]
        if not worn.animal and worn.garment != seen.garment:
            return CONTRADICTION
    stated = premise.facts.get((cast_as, slot))
    possible = stated.atoms if stated else all_atoms(slot)
    if slot == "relation" and casting == (1, 0):
        possible = reverse(possible)
    claimed = hypothesis.facts[key].atoms
    if not possible & claimed:
        return CONTRADICTION
    return NEUTRAL if possible & ~claimed else ENTAILMENT
