from pathlib import Path

from reports.charts.steps import lengths
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import pick, rows
from tests.reports.conftest import Edit

AA = "adaptive_attention"


def test_joint_distribution(artefacts: Artefacts) -> None:
    figure = lengths(artefacts, AA)
    cells = rows(figure, "count")
    assert sum(cell["count"] for cell in cells) == 300
    assert all(cell["count"] > 0 for cell in cells)  # no pair: no cell
    # seed 1 has 25 pairs with 2 steps: 12 of 8 tokens, 5 of 9.5, 8 of 7; seed 3 the same
    at = [(c["x"], c["right"], c["count"]) for c in cells if c["steps"] == "2"]
    assert at == [(7, 8, 16), (8, 9, 24), (9, 10, 10)]
    assert (cells[0]["y"], cells[0]["top"]) == (1.5, 2.5)
    assert cells[0]["tokens"] == "7 to 8"


def test_mean_steps_at_a_length(artefacts: Artefacts) -> None:
    figure = lengths(artefacts, AA)
    # 7 to 8 tokens: 16 pairs with 2 steps, and 8 of seed 2 with 3 steps
    mean = pick(rows(figure, "mean"), tokens="7 to 8")
    assert mean["pairs"] == "24" and mean["x"] == 7.5
    assert (mean["y"], mean["mean"]) == (2.3333, "2.33 ± 0.47 between pairs")
    assert (mean["low"], mean["high"]) == (1.8619, 2.8047)


def test_words_of_the_joint_distribution(artefacts: Artefacts) -> None:
    assert lengths(artefacts, AA).alternative == (
        "Test pairs of Adaptive Attention (3 seeds) that take 2 to 7 steps, with a mean length of "
        "premise and hypothesis of 7 to 12 tokens: most pairs, 37 of 300, take 4 steps at 9 to 10 "
        "tokens; Pearson's r of steps and length is +0.10 ± 0.05."
    )


def test_a_collapsed_model_is_drawn_too(folder: Path, edit: Edit) -> None:
    edit("evaluate/lengths.csv", lambda row: row | {"steps": "1", "mean_length": "8.0"})
    edit("evaluate/results.csv", lambda r: r | {"test_mean_steps": r["test_mean_steps"] and "1.0"})
    edit("evaluate/correlations.csv", lambda row: row | {"pearson": "", "spearman": ""})
    edit("evaluate/predictions.csv", lambda row: row | {"steps": row["steps"] and "1"})
    assert lengths(load(folder), AA).alternative == (
        "Test pairs of Adaptive Attention (3 seeds) that take 1 step, with a mean length of "
        "premise and hypothesis of 8 tokens: most pairs, 300 of 300, take 1 step at 8 to 9 tokens; "
        "steps are the same for every pair."
    )
