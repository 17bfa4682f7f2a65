"""The claims' figures against those of the fixture, worked by hand."""

import csv
import io
from dataclasses import replace

import pandas as pd
import pytest

from reports.artefacts import Artefacts
from reports.claims import claims, claims_csv, claims_table
from reports.comparisons import comparison_sentence, comparisons
from reports.spread import MINUS


def test_each_claim_has_figure_n_test_and_verdict(artefacts: Artefacts) -> None:
    first, words, state, capped, *_ = claims(artefacts, published=True)
    assert first == (
        "Adaptive Attention minus Decomposable Attention",
        f"+1.00 ({MINUS}2.00 to +4.00) points",
        "3 seeds, 100 pairs",
        0.5,
        "no clear difference",
        f"{MINUS}1.10 (82.7 against 83.8)",
    )
    assert words.what == "Lexicalised Classifier minus Decomposable Attention"
    assert (words.verdict, words.published) == ("clearly below", "")
    # 8 steps are best on dev in both readings; test: mean of .83-.81, .80-.80, .83-.79
    assert state.what == "Adaptive Attention: adaptive halting minus state after 8 steps"
    assert state.figure == "+2.00 ± 2.00 points"
    assert (state.verdict, state.p, state.over) == ("not clear", None, "3 seeds")
    assert state.published == "+1.70 (82.7 against 81.0)"
    assert capped.what.endswith("minus halting capped at 8 steps")


def test_deviations_together_stand_for_each(artefacts: Artefacts) -> None:
    told = [c.what for c in claims(artefacts, published=True) if "corrected" in c.what]
    assert told == [
        "Decomposable Attention: as published minus corrected",
        "Adaptive Attention: as published minus corrected",
    ]
    alone = artefacts.fidelity[artefacts.fidelity["variant"] != "as published"]
    told = [c.what for c in claims(replace(artefacts, fidelity=alone), published=True)]
    assert "Decomposable Attention: scrambled minus corrected" in told


def test_without_published_figures_there_is_no_such_column(artefacts: Artefacts) -> None:
    assert "published, SNLI" not in claims_table(artefacts, published=False)
    assert all(claim.published == "" for claim in claims(artefacts, published=False))


def test_csv_has_the_same_lines(artefacts: Artefacts) -> None:
    rows = list(csv.DictReader(io.StringIO(claims_csv(artefacts, published=True))))
    found = claims(artefacts, published=True)
    assert [row["claim"] for row in rows] == [claim.what for claim in found]
    assert rows[0]["largest_p"] == "0.5"
    assert rows[2]["largest_p"] == ""


@pytest.mark.parametrize(
    ("mean", "low", "high", "said"),
    [
        (0.01, 0.002, 0.02, "above Decomposable Attention (+1.00 points, 95 % interval +0.20 to"),
        (-0.01, -0.02, -0.002, f"is below Decomposable Attention ({MINUS}1.00 points"),
        (0.0, 0.0, 0.0, "is level with Decomposable Attention (0.00 points"),
    ],
)
def test_a_sentence_follows_the_figure(
    artefacts: Artefacts, mean: float, low: float, high: float, said: str
) -> None:
    row = artefacts.paired[:1].assign(difference=mean, low=low, high=high)
    [found] = comparisons(replace(artefacts, paired=pd.DataFrame(row)))
    sentence = comparison_sentence(found)
    assert said in sentence
    assert ("not a clear difference" in sentence) is (mean == 0.0)
