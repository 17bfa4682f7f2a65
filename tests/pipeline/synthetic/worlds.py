"""An independent oracle for labels: it enumerates possible worlds.

Words are sets of names here; a world assigns one atom to each fact of the premise. A hypothesis is
entailed if it is true in all worlds of the premise, and contradicted if it is true in none.
"""

import re
from itertools import product
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pipeline.synthetic import lexicon
from pipeline.synthetic.scenes import Key, Meaning, Value


def covers(outline: dict[str, Any]) -> dict[str, set[str]]:
    """Return each concept with its hyponyms and itself."""
    covered: dict[str, set[str]] = {}
    for key, below in outline.items():
        name = re.split(r" \[| / |\|", key)[0]
        if isinstance(below, list):
            covered[name] = {name}.union(*(covered[member] for member in below))
        else:
            inside = covers(below or {})
            covered |= inside | {name: {name, *inside}}
    return covered


WORDS = YAML(typ="safe").load(Path(lexicon.__file__).with_name("words.yaml"))
COVERS = {slot: covers(outline) for slot, outline in WORDS.items() if slot != "garments"}
Atom = tuple[str, int]  # a name and, of a relation, who acts


def all_atoms(slot: str) -> set[Atom]:
    names = set().union(*COVERS[slot].values())
    if slot != "headgear":  # a head is covered or it is not
        names.add("something else")
    return set(product(names, (0, 1) if slot == "relation" else (0,)))


def possible(value: Value | None, slot: str) -> set[Atom]:
    if value is None:
        return all_atoms(slot)
    atoms = {(name, int(value.backwards)) for name in COVERS[slot][value.concept.name]}
    return all_atoms(slot) - atoms if value.negated else atoms


def label(premise: Meaning, hypothesis: Meaning) -> str:
    both = len(premise.frame.participants) == 2 and bool(hypothesis.cast)
    castings = [[0, 1], [1, 0]] if both else [[0, 1]]
    # per casting: what the premise's facts must be, or None if it cannot be
    claims = [claims_under(premise, hypothesis, casting) for casting in castings]
    keys = sorted({key for claim in claims if claim is not None for key in claim})

    # Worlds that all claims treat alike are one.
    def holds(key: Key, atom: Atom) -> tuple[bool, ...]:
        return tuple(c is not None and (key not in c or atom in c[key]) for c in claims)

    cells = [{holds(k, atom) for atom in possible(premise.facts.get(k), k[1])} for k in keys]
    truths = {
        any(claim is not None and all(cell[i] for cell in world) for i, claim in enumerate(claims))
        for world in product(*cells)
    }
    return "neutral" if len(truths) == 2 else "entailment" if truths == {True} else "contradiction"


def claims_under(
    premise: Meaning, hypothesis: Meaning, casting: list[int]
) -> dict[Key, set[Atom]] | None:
    for owner in hypothesis.cast:
        actor = hypothesis.frame.participants[owner]
        role = premise.frame.participants[casting[owner]]
        animals = [who.family == "animals" for who in (actor, role)]
        if animals[0] != animals[1] or actor.plural != role.plural:
            return None
    claims = {}
    for (owner, slot), value in hypothesis.facts.items():
        atoms = possible(value, slot)
        if slot == "color" and casting[owner] != owner:
            actor = hypothesis.frame.participants[owner]
            role = premise.frame.participants[casting[owner]]
            if actor.family != "animals" and actor.garment != role.garment:
                return None
        if slot == "relation" and casting == [1, 0]:
            atoms = {(name, 1 - way) for name, way in atoms}
        claims[(casting[owner] if owner >= 0 else owner, slot)] = atoms
    return claims
