"""Labels by hand, with examples for each rule."""

import pytest

from pipeline.synthetic.pairs import ROTATION, draw_ambiguous, draw_group, draw_pair
from pipeline.synthetic.scenes import ENTAILMENT, Participant, judge, judge_fact
from tests.pipeline.synthetic import worlds
from tests.pipeline.synthetic.build import MANY, ONE, OTHER, PET, meaning, sampler

E, N, C = "entailment", "neutral", "contradiction"
FEW = (MANY,)
PAIR = (ONE, OTHER)
WALK = (ONE, PET)

CHASE = {"kind": "boy", "kind1": "dog", "relation": "chasing"}
DEEDS = {"kind": "man", "action": "running", "kind1": "boy"}
SLEEPS = {"action1": "sleeping"}
WORN = {"kind": "man", "color": "red", "kind1": "boy", "color1": "blue"}
STROLL = {"kind": "man", "action": "running", "place": "in a park"}

EXAMPLES = [
    ("same", (), {"action": "running"}, {"action": "running"}, E),
    ("hypernym", (), {"action": "playing the guitar"}, {"action": "making music"}, E),
    ("hypernym of a place", (), {"place": "in a park"}, {"place": "outdoors"}, E),
    ("hyponym", (), {"kind": "child"}, {"kind": "boy"}, N),
    ("unstated", (), {"kind": "boy"}, {"place": "on the beach"}, N),
    ("co-hyponym", (), {"action": "running"}, {"action": "walking"}, C),
    ("co-hyponym of a hypernym", (), {"action": "jogging"}, {"action": "walking"}, C),
    ("antonym", (), {"age": "old"}, {"age": "young"}, C),
    ("classes that overlap", (), {"color": "blue"}, {"color": "dark"}, N),
    ("class across", (), {"color": "navy"}, {"color": "dark"}, E),
    ("number", FEW, {"count": "two"}, {"count": "three"}, C),
    ("number in a range", FEW, {"count": "four"}, {"count": "several"}, E),
    ("number outside a range", FEW, {"count": "two"}, {"count": "several"}, C),
    ("number unstated", FEW, {"count": "several"}, {"count": "four"}, N),
    ("not, of another", (), {"action": "sleeping"}, {"action": "not running"}, E),
    ("not, of the same", (), {"action": "running"}, {"action": "not running"}, C),
    ("not, of a hypernym", (), {"action": "sprinting"}, {"action": "not running"}, C),
    ("not, of a hyponym", (), {"action": "moving on foot"}, {"action": "not running"}, N),
    ("not, in both", (), {"weather": "not in the rain"}, {"weather": "not in a drizzle"}, E),
    ("not, in the premise", (), {"mood": "not happy"}, {"mood": "happy"}, C),
    ("not, beside another", (), {"mood": "not happy"}, {"mood": "calm"}, N),
    ("no hat, perhaps a cap", (), {"headgear": "not a hat"}, {"headgear": "a cap"}, N),
    ("bare head", (), {"headgear": "not headgear"}, {"headgear": "nothing on the head"}, E),
    ("roles kept", WALK, CHASE, CHASE | {"relation": "following"}, E),
    ("roles swapped", WALK, CHASE, CHASE | {"relation": "<chasing"}, C),
    ("swapped roles, denied", WALK, CHASE, CHASE | {"relation": "not <chasing"}, E),
    ("who does what", PAIR, DEEDS | SLEEPS, {"kind": "man", "action": "sleeping"}, C),
    ("someone does", PAIR, DEEDS | SLEEPS, {"action": "sleeping"}, E),
    ("the other might", PAIR, DEEDS, {"action": "sleeping"}, N),
    ("who wears what", PAIR, WORN, {"kind": "man", "color": "blue"}, C),
    ("one wrong fact of two decides", (), STROLL, {"kind": "man", "action": "walking"}, C),
    ("one open fact of two decides", (), STROLL, {"kind": "man", "action": "jogging"}, N),
]


@pytest.mark.parametrize(("name", "participants", "premise", "hypothesis", "expected"), EXAMPLES)
def test_examples_by_hand(
    name: str,
    participants: tuple[Participant, ...],
    premise: dict[str, str],
    hypothesis: dict[str, str],
    expected: str,
) -> None:
    pair = meaning(*participants, **premise), meaning(*participants, **hypothesis)
    assert judge(*pair) == expected
    assert worlds.label(*pair) == expected


def test_labels_match_possible_worlds_and_one_fact_decides() -> None:
    random = sampler(5)
    for number in range(2000):
        label, depth = ROTATION[number % 3], 1 + number % 6
        premise, hypothesis = draw_pair(random, label, depth)
        assert worlds.label(premise, hypothesis) == label, (premise, hypothesis)
        verdicts = [judge_fact(premise, hypothesis, key) for key in hypothesis.facts]
        assert len(verdicts) == depth
        assert verdicts.count(ENTAILMENT) >= depth - 1
        assert label in verdicts


def test_each_sentence_of_a_group_has_each_label_once() -> None:
    """So neither sentence alone predicts the label."""
    random = sampler(7)
    for depth in range(1, 7):
        premises, hypotheses = draw_group(random, depth)
        table = [[worlds.label(p, h) for h in hypotheses] for p in premises]
        for line in (*table, *zip(*table, strict=True)):
            assert sorted(line) == [C, E, N]


def test_ambiguous_pairs_depend_on_the_reading_of_a_number() -> None:
    random = sampler(8)
    for depth in range(1, 7):
        premise, hypothesis = draw_ambiguous(random, depth)
        assert not any(who.plural for who in hypothesis.frame.participants)
        assert judge(premise, hypothesis) != ENTAILMENT  # it would be without exact numbers
        assert any(who.plural for who in premise.frame.participants)
