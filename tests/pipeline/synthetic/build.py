"""Settings of the corpus, and meanings for hand-worked examples."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pipeline.parameters.schema import Captions
from pipeline.synthetic.lexicon import CONCEPTS
from pipeline.synthetic.pairs import Sampler, cast
from pipeline.synthetic.scenes import SCENE, Frame, Meaning, Participant, Value
from tests.pipeline.project import params_tree

CONF = Path(__file__).parents[3] / "conf"
ONE = Participant("people", plural=False, garment=0)
OTHER = Participant("people", plural=False, garment=1)
PET = Participant("animals", plural=False, garment=1)
MANY = Participant("people", plural=True, garment=0)


def captions(preset: str = "captions_hard", **changes: Any) -> Captions:
    """Return the section `corpus.captions` of a preset with changes."""
    patch = YAML(typ="safe", pure=True).load(CONF / "preset" / f"{preset}.yaml")
    section = params_tree()["corpus"]["captions"] | patch.get("corpus", {}).get("captions", {})
    return Captions(**{**section, **changes})


def sampler(purpose: int) -> Sampler:
    """Return a sampler for the hard corpus."""
    return Sampler(captions(), str(purpose))


def meaning(*participants: Participant, **facts: str) -> Meaning:
    """Build a meaning: `kind="man", kind1="dog", action="not running", relation="<chasing"`.

    A digit after a slot is its participant (default 0); `<` reverses a relation.
    """
    interaction = "relation" in facts
    frame = Frame(participants or (ONE,), outdoors=True, interaction=interaction)
    stated = {}
    for name, text in facts.items():
        slot, owner = name.rstrip("1"), int(name.endswith("1"))
        if slot in ("place", "time", "day", "weather", "relation"):
            owner = SCENE
        bare = text.removeprefix("not ").removeprefix("<")
        concept = CONCEPTS[slot][bare]
        stated[owner, slot] = Value(slot, concept, text.startswith("not "), "<" in text)
    return Meaning(frame, stated, cast(frame, stated))
