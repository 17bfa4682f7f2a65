"""Concepts and how they exclude or include each other: what decides a label.

A concept is a set of atoms, kept as the bits of an integer: a hypernym holds the atoms of its
hyponyms, so inclusion is entailment and an empty intersection is contradiction. Every concept
also has an atom of its own, because no outline is complete. words.yaml describes its format.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

WORD = re.compile(r"\w+")
Form = tuple[str, str]  # (one, many)


@dataclass(frozen=True, eq=False)
class Concept:
    """One node of an outline: its first form, the bits it covers, wordings, concept above."""

    name: str
    atoms: int
    forms: tuple[Form, ...]
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


def read_outline(outline: Mapping[str, Any], *, exhaustive: bool = False) -> Vocabulary:
    """Read one section of words.yaml; if exhaustive, there is nothing outside the outline."""
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
    return Vocabulary(concepts, (1 << len(rows) + (not exhaustive)) - 1)


def _rows(
    outline: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], tuple[Form, ...], frozenset[str], list[str]]]:
    """Of each concept its path of names, its forms, its tags and the members of a class."""
    for key, below in outline.items():
        written, _, tags = key.partition(" [")
        forms = tuple(_both(form) for form in written.split(" / "))
        path = (*above, forms[0][0])
        yield path, forms, frozenset(WORD.findall(tags)), below if isinstance(below, list) else []
        if isinstance(below, dict):
            yield from _rows(below, path)


def _both(form: str) -> Form:
    one, _, many = form.partition("|")
    return one, many or one


_WORDS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
GARMENTS = tuple(_both(garment) for garment in _WORDS.pop("garments"))
VOCABULARIES: dict[str, Vocabulary] = {
    slot: read_outline(outline, exhaustive=slot == "headgear") for slot, outline in _WORDS.items()
}


class Neighbours:
    """The concepts of a selection that stand in some relation to one of them."""

    def __init__(self, concept: Concept, concepts: tuple[Concept, ...]) -> None:
        others = [c for c in concepts if c is not concept]
        self.hyponym = tuple(c for c in others if not c.atoms & ~concept.atoms)
        self.hypernym = tuple(c for c in others if not concept.atoms & ~c.atoms)
        self.disjoint = tuple(c for c in others if not c.atoms & concept.atoms)
        self.co_hyponym = tuple(c for c in self.disjoint if c.parent == concept.parent)


class Selection:
    """The concepts of one fact, each with its neighbours; some exclude others (`excludable`)."""

    def __init__(self, concepts: tuple[Concept, ...]) -> None:
        self.concepts = concepts
        self.near = {concept: Neighbours(concept, concepts) for concept in concepts}
        self.excludable = tuple(c for c in concepts if self.near[c].disjoint)
