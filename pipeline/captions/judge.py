"""The label of a pair of meanings: inclusion, exclusion, or neither."""

from pipeline.captions.scenes import SCENE, Key, Meaning, everything, reverse

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"


def judge(premise: Meaning, hypothesis: Meaning) -> str:
    """Entailment if some casting of the hypothesis makes all its facts follow; contradiction if
    every casting excludes one; else neutral.

    A casting says which participant of the premise each participant of the hypothesis is.
    """
    castings = [(0, 1)]
    if len(premise.frame.participants) == 2 and hypothesis.cast:
        castings.append((1, 0))
    verdicts = {judge_casting(premise, hypothesis, casting) for casting in castings}
    if ENTAILMENT in verdicts:
        return ENTAILMENT
    return CONTRADICTION if verdicts == {CONTRADICTION} else NEUTRAL


def judge_casting(premise: Meaning, hypothesis: Meaning, casting: tuple[int, int]) -> str:
    """The label under one casting: the strongest thing said about any fact decides."""
    actors = hypothesis.frame.participants
    for owner in hypothesis.cast:
        actor, role = actors[owner], premise.frame.participants[casting[owner]]
        if (actor.animal, actor.plural) != (role.animal, role.plural):
            return CONTRADICTION
    verdicts = {judge_fact(premise, hypothesis, key, casting) for key in hypothesis.facts}
    for verdict in (CONTRADICTION, NEUTRAL):
        if verdict in verdicts:
            return verdict
    return ENTAILMENT


def judge_fact(
    premise: Meaning, hypothesis: Meaning, key: Key, casting: tuple[int, int] = (0, 1)
) -> str:
    """Whether one fact of the hypothesis follows, is excluded, or is left open."""
    owner, slot = key
    cast_as = owner if owner == SCENE else casting[owner]
    if slot == "colour" and cast_as != owner:
        worn, seen = hypothesis.frame.participants[owner], premise.frame.participants[cast_as]
        if not worn.animal and worn.garment != seen.garment:
            return CONTRADICTION
    stated = premise.facts.get((cast_as, slot))
    possible = stated.atoms if stated else everything(slot)
    if slot == "relation" and casting == (1, 0):
        possible = reverse(possible)
    claimed = hypothesis.facts[key].atoms
    if not possible & claimed:
        return CONTRADICTION
    return NEUTRAL if possible & ~claimed else ENTAILMENT
