"""Labels by hand, with examples for each rule."""

import pytest

from pipeline.synthetic.pairs import ROTATION, draw_ambiguous, draw_group, draw_pair
from pipeline.synthetic.scenes import ENTAILMENT, judge, judge_fact
from tests.pipeline.project import ROOT, read_yaml
from tests.pipeline.synthetic import worlds
from tests.pipeline.synthetic.build import MANY, ONE, OTHER, PET, meaning, sampler

E, N, C = "entailment", "neutral", "contradiction"
PARTICIPANTS = {"ONE": ONE, "OTHER": OTHER, "PET": PET, "MANY": MANY}
CASES = read_yaml((ROOT / "tests" / "fixtures" / "cases" / "scenes.yaml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("names", "premise", "hypothesis", "label"), [pytest.param(*c[1:], id=c[0]) for c in CASES]
)
def test_examples_by_hand(
    names: list[str], premise: dict[str, str], hypothesis: dict[str, str], label: str
) -> None:
    participants = [PARTICIPANTS[name] for name in names]
    pair = meaning(*participants, **premise), meaning(*participants, **hypothesis)
    assert judge(*pair) == worlds.label(*pair) == label


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
