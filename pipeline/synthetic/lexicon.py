"""Concepts as sets of atoms, whose inclusion and exclusion determine labels.

An integer holds the atoms of a concept as bits. A hypernym has the atoms of its hyponyms, so
inclusion is entailment and an empty intersection is contradiction. Each concept also has an atom of
its own, because no outline is complete. words.yaml describes its format.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

WORD = re.compile(r"\w+")
Form = tuple[str, str]  # (singular, plural)


@dataclass(frozen=True, eq=False)
class Concept:
    """A node of an outline; its name is the singular of its first form."""

    name: str
    atoms: int
    forms: tuple[Form, ...]
    tags: frozenset[str]
    parent: str | None


@dataclass(frozen=True, eq=False)
class Concepts:
    """All values of one slot."""

    concepts: dict[str, Concept]
    all_atoms: int

    def __getitem__(self, name: str) -> Concept:
        return self.concepts[name]

    def below(self, *names: str) -> tuple[Concept, ...]:
        """Return the named concepts and their hyponyms in outline order."""
        wanted = 0
        for name in names:
            wanted |= self[name].atoms
        return tuple(c for c in self.concepts.values() if not c.atoms & ~wanted)


def read_outline(outline: Mapping[str, Any], *, exhaustive: bool = False) -> Concepts:
    """Read a section of words.yaml; if exhaustive, there are no other values."""
    rows = list(_rows(outline))
    atoms: dict[str, int] = {}
    for number, (path, _, _, members) in enumerate(rows):
        atoms[path[-1]] = 1 << number
        for ancestor in path[:-1]:
            atoms[ancestor] |= 1 << number
        for member in members:
            atoms[path[-1]] |= atoms[member]
    concepts = {
        path[-1]: Concept(path[-1], atoms[path[-1]], forms, tags, path[-2] if path[1:] else None)
        for path, forms, tags, _ in rows
    }
    return Concepts(concepts, (1 << len(rows) + (not exhaustive)) - 1)


def _rows(
    outline: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], tuple[Form, ...], frozenset[str], list[str]]]:
    """Yield path of names, forms, tags and class members of each concept."""
    for key, below in outline.items():
        written, _, tags = key.partition(" [")
        forms = tuple(_parse_form(form) for form in written.split(" / "))
        path = (*above, forms[0][0])
        yield path, forms, frozenset(WORD.findall(tags)), below if isinstance(below, list) else []
        if isinstance(below, dict):
            yield from _rows(below, path)


def _parse_form(form: str) -> Form:
    singular, _, plural = form.partition("|")
    return singular, plural or singular


_WORDS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
GARMENTS = tuple(_parse_form(garment) for garment in _WORDS.pop("garments"))
CONCEPTS: dict[str, Concepts] = {
    slot: read_outline(outline, exhaustive=slot == "headgear") for slot, outline in _WORDS.items()
}


class Neighbors:
    """The concepts of a selection by their relation to one of them."""

    def __init__(self, concept: Concept, concepts: tuple[Concept, ...]) -> None:
        others = [c for c in concepts if c is not concept]
        self.hyponym = tuple(c for c in others if not c.atoms & ~concept.atoms)
        self.hypernym = tuple(c for c in others if not concept.atoms & ~c.atoms)
        self.disjoint = tuple(c for c in others if not c.atoms & concept.atoms)
        self.co_hyponym = tuple(c for c in self.disjoint if c.parent == concept.parent)


class Selection:
    """The possible concepts of a fact, with their neighbors.

    excludable: concepts that are disjoint from another one.
    """

    def __init__(self, concepts: tuple[Concept, ...]) -> None:
        self.concepts = concepts
        self.near = {concept: Neighbors(concept, concepts) for concept in concepts}
        self.excludable = tuple(c for c in concepts if self.near[c].disjoint)
