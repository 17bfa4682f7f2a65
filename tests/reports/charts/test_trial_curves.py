import json
from pathlib import Path

from reports.charts.curves import sweep_curves, telling
from reports.charts.trials import slices
from reports.stored.artefacts import Artefacts, load
from tests.page.samples import grown
from tests.reports.charts.reading import axes, legend, marks, rows
from tests.reports.conftest import Edit

DA, AA = "decomposable_attention", "adaptive_attention"


def test_the_most_telling_setting(artefacts: Artefacts) -> None:
    # means by dropout are 1 point apart, by ponder weight and by learning rate 2 points
    assert telling(artefacts, AA) == "ponder_weight"
    assert telling(artefacts, DA) == "learning_rate"


def test_a_curve_per_trial(artefacts: Artefacts) -> None:
    figure = sweep_curves(artefacts, AA)
    found = rows(figure, "dev")
    assert [row["key"] for row in found] == ["aa05", "aa06", "aa07", "aa08"]
    # best 0.83 in the second of three epochs, 0.03 below it beside
    assert found[0] == {
        **{"key": "aa05", "series": "0.001", "dev": [80.0, 83.0, 80.0]},
        **{"best": "83.0 % at epoch 2", "ponder_weight": "0.001", "dropout": "0.1"},
    }
    assert legend(figure) == ["0.001", "0.00005"]
    assert axes(figure) == {"x": "epoch", "y": "dev accuracy (%)"}
    ((kind, encoding),) = marks(figure.spec)
    assert kind == "line" and encoding["detail"]["field"] == "key"
    told = [part["title"] for part in encoding["tooltip"]]
    assert told == ["trial", "best dev accuracy", "dropout", "ponder_weight"]


def test_words_of_the_curves(artefacts: Artefacts) -> None:
    assert sweep_curves(artefacts, AA).alternative == (
        "Dev accuracy by epoch of 4 trials of Adaptive Attention: best 83.0 % at epoch 2 (trial "
        "aa05); after their last epoch 77.0 to 80.0 %."
    )


def test_a_trial_that_ended_early_has_a_shorter_curve(folder: Path, edit: Edit) -> None:
    edit("sweep/history.csv", lambda r: None if (r["key"], r["epoch"]) == ("aa06", "3") else r)
    edit("sweep/trials.csv", lambda r: r | {"epochs": "2"} if r["key"] == "aa06" else r)
    found = rows(sweep_curves(load(folder), AA), "dev")
    assert [len(row["dev"]) for row in found] == [3, 2, 3, 3]


def test_a_grid_of_one_point_has_one_colour(folder: Path, edit: Edit) -> None:
    edit("sweep/trials.csv", lambda row: row | {"dropout": "0.1", "ponder_weight": "0.1"})
    figure = sweep_curves(load(folder), AA)
    ((_, encoding),) = marks(figure.spec)
    assert telling(load(folder), AA) is None and "scale" not in encoding["color"]


def test_the_papers_grid_stays_small(artefacts: Artefacts) -> None:
    """432 trials of 15 epochs: accuracies in four digits, each trial's settings once."""
    figure = sweep_curves(grown(artefacts), AA)
    assert len(rows(figure, "dev")) == 432
    assert max(len(str(value)) for row in rows(figure, "dev") for value in row["dev"]) <= 5
    stored = len(json.dumps(figure.spec)) + len(json.dumps(slices(grown(artefacts), AA).spec))
    assert stored < 600_000
