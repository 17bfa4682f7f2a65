from pathlib import Path

from reports.artefacts import Artefacts, load
from reports.charts.trials import slices, sweep_curves, telling
from tests.reports.charts.reading import axes, legend, marks, pick, rows
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


def test_slices_have_a_line_per_value_under_its_setting(artefacts: Artefacts) -> None:
    figure = slices(artefacts, AA)
    lines = next(e["y"]["scale"]["domain"] for _, e in marks(figure.spec))
    assert lines == [
        *("dropout", "dropout = 0.1", "dropout = 0.2"),
        *("ponder_weight", "ponder_weight = 0.001", "ponder_weight = 0.00005"),
    ]
    # dropout 0.1: 83 and 81; mean 82, sd sqrt(2)
    mean = pick(rows(figure, "low"), line="dropout = 0.1")
    assert (mean["y"], mean["low"], mean["high"]) == (82.0, 80.586, 83.414)
    assert (mean["shown"], mean["n"]) == ("82.0 ± 1.41 %", "2")
    trial = pick(rows(figure, "key"), key="aa08")
    assert (trial["y"], trial["shown"]) == (80.0, "80.0 %")
    assert (trial["dropout"], trial["ponder_weight"]) == ("0.2", "0.00005")


def test_words_of_the_slices(artefacts: Artefacts) -> None:
    assert slices(artefacts, DA).alternative == (
        "Dev accuracy of 4 trials of Decomposable Attention by each value of each setting that its "
        "grid varies, mean ± sd: dropout, 81.0 ± 1.41 % at 0.1 and 80.0 ± 1.41 % at 0.2; "
        "learning_rate, 81.5 ± 0.71 % at 0.001 and 79.5 ± 0.71 % at 0.0005."
    )
