from dataclasses import replace

import pytest

from reports.findings import (
    best_on_dev,
    featured,
    featured_halting,
    gained,
    halting_models,
    listed,
    unpaired,
    verdict,
)
from reports.spread import LEVEL, MINUS, Spread
from reports.stored.artefacts import Artefacts


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a, x", "b", "c"], "a, x; b; and c"),
    ],
)
def test_lists(items: list[str], said: str) -> None:
    assert listed(items) == said


def test_unpaired_differences() -> None:
    # sd 1 and 2 points over four seeds each: sqrt((1 + 4) / 4) = 1.12
    ours, theirs = Spread(0.80, 0.01, 4), Spread(0.83, 0.02, 4)
    assert unpaired(ours, theirs) == ("below", f"{MINUS}3.00 points, standard error 1.12")
    assert unpaired(ours, ours) == (
        *("level with", "0.00 points, standard error 0.71; not a clear difference"),
    )


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ([0.02, 0.03, 0.04], "better than"),
        ([-0.02, -0.03, -0.04], "worse than"),
        ([0.0, 0.01, 0.02], "not clearly better than"),
        ([0.0, 0.0, 0.0], "not better than"),
        ([-0.02, 0.0, 0.01], "not better than"),
        ([0.05], "not clearly better than"),
        ([-0.05], "not better than"),
    ],
)
def test_verdicts(gains: list[float], said: str) -> None:
    assert verdict(Spread.of(gains).interval, LEVEL) == said


def test_one_seed_has_no_spread() -> None:
    assert gained(Spread.of([0.01])) == "+1.00 points, n = 1, no spread"


DA, AA = "decomposable_attention", "adaptive_attention"


def test_few_models_are_all_named(artefacts: Artefacts) -> None:
    assert featured(artefacts) == (DA, AA)


def test_of_many_the_papers_two_and_the_best_on_dev(many: Artefacts) -> None:
    assert best_on_dev(many) == "adaptive_attention_ponder_net"
    assert featured(many) == (DA, AA, "adaptive_attention_ponder_net")


def test_the_best_may_be_one_of_the_papers(many: Artefacts) -> None:
    level = replace(many, results=many.results.assign(dev_accuracy=0.8))
    assert best_on_dev(level) == DA
    assert featured(level) == (DA, AA)


def test_models_of_fixed_steps_choose_none(many: Artefacts) -> None:
    assert halting_models(many) == [AA, "adaptive_attention_ponder_net"]
    last = replace(many, results=many.results.assign(dev_accuracy=0.8))
    assert featured_halting(last) == [AA]
