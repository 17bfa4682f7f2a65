from itertools import combinations

import pytest
import yaml

from pipeline.synthetic.lexicon import CONCEPTS, Selection, read_outline
from tests.pipeline.synthetic.worlds import COVERS

SMALL = yaml.safe_load("""
animal|animals:
  dog|dogs / hound [common, out]:
    poodle|poodles:
  cat:
plant:
pet: [dog, cat]
""")


def test_an_outline_is_read() -> None:
    outline = read_outline(SMALL)
    dog, pet = outline["dog"], outline["pet"]
    assert list(outline.concepts) == ["animal", "dog", "poodle", "cat", "plant", "pet"]
    assert dog.forms == (("dog", "dogs"), ("hound", "hound"))
    assert (dog.parent, dog.tags) == ("animal", {"common", "out"})
    assert outline["animal"].atoms & dog.atoms == dog.atoms
    assert pet.atoms & outline["poodle"].atoms
    assert not outline["plant"].atoms & outline["animal"].atoms
    assert [c.name for c in outline.below("dog", "cat")] == ["dog", "poodle", "cat"]
    selection = Selection(tuple(outline.concepts.values()))
    near = selection.near[outline["dog"]]
    assert [c.name for c in near.hypernym] == ["animal", "pet"]
    assert [c.name for c in near.hyponym] == ["poodle"]
    assert [c.name for c in near.co_hyponym] == ["cat"]
    assert [c.name for c in near.disjoint] == ["cat", "plant"]


@pytest.mark.parametrize("slot", sorted(CONCEPTS))
def test_bits_agree_with_sets(slot: str) -> None:
    concepts, covers = CONCEPTS[slot].concepts, COVERS[slot]
    forms = [form for concept in concepts.values() for form in concept.forms]
    assert len(forms) == len(set(forms))
    assert set(concepts) == set(covers)
    for one, other in combinations(concepts.values(), 2):
        assert (one.atoms & other.atoms == 0) == covers[one.name].isdisjoint(covers[other.name])
        assert (one.atoms & ~other.atoms == 0) == (covers[one.name] <= covers[other.name])


def test_only_headgear_leaves_nothing_else() -> None:
    headgear, colors = CONCEPTS["headgear"], CONCEPTS["color"]
    assert headgear.all_atoms == headgear["headgear"].atoms | headgear["nothing on the head"].atoms
    named = 0
    for concept in colors.concepts.values():
        named |= concept.atoms
    assert colors.all_atoms & ~named
