from pathlib import Path

import pytest

from reports.charts.steps import shares, steps_taken
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import axes, pick, rows
from tests.reports.conftest import Edit

AA = "adaptive_attention"


def test_shares_of_a_seeds_pairs(artefacts: Artefacts) -> None:
    # of 100 pairs each: seed 1 takes 2 and 6 steps 25 times, 4 steps 50 times;
    # seed 2 takes 3, 5, 5, 7; seed 3 takes 2, 4, 5, 7 steps, each 25 times
    found = shares(artefacts, AA)
    assert list(found) == [2, 3, 4, 5, 6, 7]
    share, pairs = found[4]  # 0.5, 0 and 0.25: sd 0.25
    assert (share.mean, share.sd, share.n, pairs) == (0.25, 0.25, 3, 75)
    share, pairs = found[3]  # 0, 0.25, 0: mean 1/12, sd 0.25 / sqrt(3)
    assert share.mean == pytest.approx(1 / 12)
    assert share.sd == pytest.approx(0.25 / 3**0.5)
    assert sum(share.mean for share, _ in found.values()) == pytest.approx(1)


def test_a_bar_per_number_of_steps_with_its_spread(artefacts: Artefacts) -> None:
    figure = steps_taken(artefacts, AA)
    row = pick(rows(figure, "share"), x=4)
    assert (row["y"], row["least"], row["most"]) == (25.0, 0.0, 50.0)
    assert (row["share"], row["pairs"], row["n"]) == ("25.0 ± 25.00 %", "75", "3")
    assert pick(rows(figure, "share"), x=3)["least"] == 0  # no share is below nothing
    assert axes(figure) == {"x": "steps", "y": "share of test pairs (%)"}
    assert figure.spec["title"]["subtitle"] == ["mean ± 1 sd, 3 seeds; mean 4.50 ± 0.50 steps"]


def test_a_collapsed_model_has_one_bar(folder: Path, edit: Edit) -> None:
    edit("evaluate/lengths.csv", lambda row: row | {"steps": "1"})
    edit("evaluate/results.csv", lambda r: r | {"test_mean_steps": r["test_mean_steps"] and "1.0"})
    edit("evaluate/predictions.csv", lambda row: row | {"steps": row["steps"] and "1"})
    figure = steps_taken(load(folder), AA)
    assert "3 seeds): 1 step, most often 1 (100.0 ± 0.00 %)" in figure.alternative
    assert len(rows(figure, "share")) == 1
