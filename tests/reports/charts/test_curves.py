import json
from pathlib import Path

from reports.charts.curves import learning_curves, steps_while_training, sweep_curves, telling
from reports.charts.trials import slices
from reports.stored.artefacts import Artefacts, load
from tests.page.samples import grown
from tests.reports.charts.reading import axes, legend, marks, pick, rows
from tests.reports.conftest import Edit

DA, AA = "decomposable_attention", "adaptive_attention"


def test_a_line_per_seed_for_dev_and_for_training(artefacts: Artefacts) -> None:
    figure = learning_curves(artefacts, AA)
    found = rows(figure, "part")[:30]  # 3 seeds, 5 epochs, 2 parts; then the epochs kept
    assert len(found) == 30
    # seed 2 of history.csv: 0.73, 0.76, 0.79, 0.82, 0.79 on dev, 0.76 to 0.92 in training
    of_two = [row for row in found if row["series"] == "seed 2"]
    assert [r["y"] for r in of_two if r["part"] == "dev"] == [73.0, 76.0, 79.0, 82.0, 79.0]
    training = [r for r in of_two if r["part"] == "training, with dropout"]
    assert [r["y"] for r in training] == [76.0, 80.0, 84.0, 88.0, 92.0]
    assert pick(of_two, x=4, part="dev")["accuracy"] == "82.0"
    assert axes(figure) == {"x": "epoch", "y": "accuracy (%)"}
    assert legend(figure) == ["seed 1", "seed 2", "seed 3"]


def test_the_epoch_that_was_kept_is_marked(artefacts: Artefacts) -> None:
    figure = learning_curves(artefacts, AA)
    *_, last = [layer for layer in figure.spec["layer"] if "data" in layer]
    kept = figure.spec["datasets"][last["data"]["name"]]
    assert [(row["x"], row["y"]) for row in kept] == [(4, 84.0), (4, 82.0), (4, 86.0)]
    assert last["mark"]["size"] > 100


def test_the_first_of_equal_epochs_was_kept(folder: Path, edit: Edit) -> None:
    edit("retrain/history.csv", lambda row: row | {"dev_accuracy": "0.8"})
    said = learning_curves(load(folder), AA).alternative
    assert "80.0 % at epoch 1 (seed 1), 80.0 % at epoch 1 (seed 2)" in said


def test_many_seeds_are_a_range(folder: Path, edit: Edit) -> None:
    path = folder / "retrain" / "history.csv"
    text = path.read_text()
    more = [line for line in text.splitlines()[1:] if f",{AA},1," in line]
    for seed in (4, 5):
        text += "".join(line.replace(f",{AA},1,", f",{AA},{seed},") + "\n" for line in more)
    path.write_text(text)
    figure = learning_curves(load(folder), AA)
    assert "kept: 82.0 to 86.0 % over the seeds. " in figure.alternative
    assert len(legend(figure)) == 5


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


def test_steps_by_epoch_with_a_band_for_dev_pairs(artefacts: Artefacts) -> None:
    figure = steps_while_training(artefacts, AA)
    assert legend(figure) == ["0.00005", "0.001"]
    found = rows(figure, "part")
    dev = [r for r in found if r["series"] == "0.001" and r["part"] == "dev pairs"]
    assert [(r["x"], r["y"], r["low"], r["high"]) for r in dev] == [
        (epoch, 4.0, 3.25, 4.75) for epoch in (1, 2, 3)
    ]
    assert (dev[0]["value"], dev[0]["n"]) == ("4.00 ± 0.75 between pairs", "2")
    training = pick(found, series="0.00005", part="training pairs, with dropout", epoch="1")
    assert training["y"] == 9.0 and "low" not in training
