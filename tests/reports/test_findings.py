from pathlib import Path

import pytest

from reports.artefacts import Artefacts, load
from reports.findings import gained, summary, verdict
from reports.spread import MINUS, Spread
from tests.reports.conftest import Edit


def test_what_it_says_first(artefacts: Artefacts) -> None:
    text = summary(artefacts)
    assert "not comparable with those published for SNLI" in text
    assert "8 trials (4 Decomposable Attention and 4 Adaptive Attention)" in text
    assert "trained anew with 3 seeds" in text
    assert "82.0 ± 1.73 % for Adaptive Attention (mean ± sd over 3 seeds)" in text
    assert "\n" not in text


def test_models_are_compared_with_a_standard_error(artefacts: Artefacts) -> None:
    # sd 1 and sqrt(3) points over three seeds each: sqrt((1 + 3) / 3) = 1.15
    said = (
        "above Decomposable Attention (+1.00 points, standard error 1.15; not a clear difference)"
    )
    assert said in summary(artefacts)


def test_a_model_that_is_worse_is_said_to_be(folder: Path, edit: Edit) -> None:
    worse = {"test_accuracy": "0.5"}
    edit("evaluate/results.csv", lambda row: row | (worse if row["test_mean_steps"] else {}))
    path = folder / "evaluate" / "summary.json"
    path.write_text(path.read_text().replace("0.82", "0.5"))
    said = f"is below Decomposable Attention ({MINUS}31.00 points, standard error 0.58)."
    assert f"Adaptive Attention {said}" in summary(load(folder))


def test_adaptive_halting_that_gains_nothing_is_said_to(artefacts: Artefacts) -> None:
    text = summary(artefacts)
    assert "not clearly better than classifying the state after 8 steps (+2.00 ± 2.00" in text
    assert (
        f"not better than capping halting at 8 steps ({MINUS}0.33 ± 0.58 points, sd over 3" in text
    )


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ([0.01, 0.02, 0.03], "better than"),
        ([-0.01, -0.02, -0.03], "worse than"),
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
