"""Meanings from plain words, for hand-worked examples."""

from pipeline.captions.pairs import cast
from pipeline.captions.scenes import SCENE, VOCABULARIES, Frame, Meaning, Participant, Value

ONE = Participant("people", plural=False, garment=0)
OTHER = Participant("people", plural=False, garment=1)
PET = Participant("animals", plural=False, garment=1)
MANY = Participant("people", plural=True, garment=0)


def meaning(*participants: Participant, **facts: str) -> Meaning:
    """`kind="man", kind1="dog", action="not running", relation="<chasing"`.

    A digit after a fact gives its participant (0 where there is none); `<` turns a relation round.
    """
    interaction = "relation" in facts
    frame = Frame(participants or (ONE,), outdoors=True, interaction=interaction)
    stated = {}
    for name, text in facts.items():
        slot, owner = name.rstrip("1"), int(name.endswith("1"))
        if slot in ("place", "time", "day", "weather", "relation"):
            owner = SCENE
        bare = text.removeprefix("not ").removeprefix("<")
        concept = VOCABULARIES[slot][bare]
        stated[owner, slot] = Value(slot, concept, text.startswith("not "), "<" in text)
    return Meaning(frame, stated, cast(frame, stated))
