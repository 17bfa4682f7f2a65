"""Concepts and how they exclude or include each other: what decides a label.

A concept is a set of atoms, kept as the bits of an integer: a hypernym holds the atoms of its
hyponyms, so inclusion is entailment and an empty intersection is contradiction. Every concept
also has an atom of its own, because no outline lists all the kinds there are of anything.

Concepts are written as outlines: what is indented is a kind of what is above. Each line has the
concept's interchangeable forms, separated by ` / `, and as `one|many` where a plural subject
needs another. `[...]` holds tags: `out`, `in` and `water` bind an action to a setting, `animal`
marks what animals do too, `common` what is spoken of most. A line `* form: a, b` is a class
across the outline, of members named by their first forms.
"""

import re
from dataclasses import dataclass

from pipeline.captions import words_scene, words_who

LINE = re.compile(r"(?P<indent> *)(?P<across>\* )?(?P<forms>[^:\[]+)(: (?P<members>[^\[]+))?"
                  r"( *\[(?P<tags>[^]]+)\])?$")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Concept:
    """One node of an outline.

    name: the first form of the concept.
    atoms: the bits of everything that the concept covers.
    forms: its interchangeable wordings as (one, many).
    parent: the concept above it in the outline, if any.
    """

    name: str
    atoms: int
    forms: tuple[tuple[str, str], ...]
    tags: frozenset[str]
    parent: str | None


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """All values of one kind of fact."""

    concepts: dict[str, Concept]
    everything: int

    def __getitem__(self, name: str) -> Concept:
        return self.concepts[name]

    def below(self, *names: str) -> tuple[Concept, ...]:
        """The named concepts and everything they cover, in outline order."""
        wanted = 0
        for name in names:
            wanted |= self[name].atoms
        return tuple(c for c in self.concepts.values() if not c.atoms & ~wanted)


def read_outline(text: str, *, exhaustive: bool = False) -> Vocabulary:
    """Read an outline, as the module describes.

    exhaustive: there is nothing of the kind outside the outline.
    """
    rows: list[tuple[str, list[tuple[str, str]], frozenset[str], str | None]] = []
    atoms: dict[str, int] = {}
    path: list[str] = []
    for number, line in enumerate(text.strip("\n").splitlines()):
        match = LINE.match(line)
        if match is None:
            raise ValueError(f"line {number + 1} of an outline is not readable: {line!r}")
        forms = [_both(form) for form in match["forms"].strip().split(" / ")]
        name = forms[0][0]
        atoms[name] = 1 << number
        if match["across"]:
            for member in match["members"].split(","):
                atoms[name] |= atoms[member.strip()]
            path = []
        else:
            path = [*path[: len(match["indent"]) // 2], name]
            for ancestor in path[:-1]:
                atoms[ancestor] |= 1 << number
        tags = frozenset((match["tags"] or "").replace(" ", "").split(",")) - {""}
        rows.append((name, forms, tags, path[-2] if len(path) > 1 else None))
    concepts = {n: Concept(n, atoms[n], tuple(f), t, p) for n, f, t, p in rows}
    return Vocabulary(concepts, (1 << len(rows) + (not exhaustive)) - 1)


def _both(form: str) -> tuple[str, str]:
    one, _, many = form.partition("|")
    return one, many or one


KINDS = read_outline(words_who.KINDS)
COUNTS = read_outline(words_who.COUNTS)
AGES = read_outline(words_who.AGES)
SIZES = read_outline(words_who.SIZES)
COLOURS = read_outline(words_who.COLOURS)
MOODS = read_outline(words_who.MOODS)
HEADGEAR = read_outline(words_who.HEADGEAR, exhaustive=True)
ACTIONS = read_outline(words_scene.ACTIONS)
PLACES = read_outline(words_scene.PLACES)
TIMES = read_outline(words_scene.TIMES)
DAYS = read_outline(words_scene.DAYS)
WEATHER = read_outline(words_scene.WEATHER)
RELATIONS = read_outline(words_scene.RELATIONS)
GARMENTS = tuple(_both(garment) for garment in words_who.GARMENTS)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The concepts of a selection that stand in some relation to one of them."""

    narrower: tuple[Concept, ...]
    broader: tuple[Concept, ...]
    siblings: tuple[Concept, ...]
    disjoint: tuple[Concept, ...]


class Selection:
    """The concepts that one fact of one scene can take, each with its neighbours.

    excludable: those that something else of the selection excludes.
    """

    def __init__(self, concepts: tuple[Concept, ...]) -> None:
        self.concepts = concepts
        self.near = {concept: _neighbours(concept, concepts) for concept in concepts}
        self.excludable = tuple(c for c in concepts if self.near[c].disjoint)


def _neighbours(concept: Concept, concepts: tuple[Concept, ...]) -> Neighbours:
    others = [c for c in concepts if c is not concept]
    disjoint = tuple(c for c in others if not c.atoms & concept.atoms)
    return Neighbours(
        narrower=tuple(c for c in others if not c.atoms & ~concept.atoms),
        broader=tuple(c for c in others if not concept.atoms & ~c.atoms),
        siblings=tuple(c for c in disjoint if c.parent == concept.parent),
        disjoint=disjoint,
    )
