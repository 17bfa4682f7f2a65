from pathlib import Path

import pytest

from reports.artefacts import Artefacts, load
from reports.findings import gained, listed, summary, unpaired, verdict
from reports.spread import MINUS, Spread
from tests.reports.conftest import Edit


def test_what_it_says_first(artefacts: Artefacts) -> None:
    text = summary(artefacts)
    assert "not comparable with those published for SNLI" in text
    assert "8 trials (4 Decomposable Attention and 4 Adaptive Attention)" in text
    assert "trained anew with 3 seeds" in text
    assert "82.0 ± 1.73 % for Adaptive Attention (mean ± sd over 3 seeds)" in text
    assert "\n" not in text


def test_models_are_compared_pair_by_pair(artefacts: Artefacts) -> None:
    said = (
        f"above Decomposable Attention (+1.00 points, 95 % interval {MINUS}2.00 to +4.00, 3 seeds, "
        "100 pairs; not a clear difference)"
    )
    assert said in summary(artefacts)


def test_a_model_that_is_worse_is_said_to_be(folder: Path, edit: Edit) -> None:
    worse = {"difference": "-0.31", "low": "-0.32", "high": "-0.3"}
    edit("evaluate/paired.csv", lambda row: row | worse)
    said = f"is below Decomposable Attention ({MINUS}31.00 points, 95 % interval {MINUS}32.00 to"
    assert f"Adaptive Attention {said}" in summary(load(folder))


def test_adaptive_halting_that_gains_nothing_is_said_to(artefacts: Artefacts) -> None:
    text = summary(artefacts)
    assert "not clearly better than classifying the state after 8 steps (+2.00 ± 2.00" in text
    assert (
        f"not better than capping halting at 8 steps ({MINUS}0.33 ± 0.58 points, sd over 3" in text
    )


def test_of_many_models_few_are_named(many: Artefacts) -> None:
    text = summary(many)
    assert text.startswith("6 models were trained and tested on")
    assert "The sweep ran 24 trials of 6 models; each" in text
    assert "Of all models Adaptive Attention, PonderNet is best on dev; the others are in" in text
    assert text.count("95 % interval") == 2
    assert "LSTM" not in text and "Word-by-Word" not in text


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
    assert verdict(Spread.of(gains)) == said


def test_one_seed_has_no_spread(one_seed: Path) -> None:
    text = summary(load(one_seed))
    assert "±" not in text
    assert "83.0 % for Adaptive Attention (n = 1, no spread)" in text
    assert "with 1 seed and" in text
    assert "not a clear difference" in text
    assert gained(Spread.of([0.01])) == "+1.00 points, n = 1, no spread"
