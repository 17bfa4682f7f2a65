from pathlib import Path

from reports.charts.curves import learning_curves
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import axes, legend, marks, pick, rows
from tests.reports.conftest import Edit

AA = "adaptive_attention"


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


def test_its_words(artefacts: Artefacts) -> None:
    assert learning_curves(artefacts, AA).alternative == (
        "Accuracy by epoch of Adaptive Attention, 3 seeds. Dev accuracy of the epoch that was "
        "kept: 84.0 % at epoch 4 (seed 1), 82.0 % at epoch 4 (seed 2), 86.0 % at epoch 4 (seed 3). "
        "Training accuracy, with dropout, in the last epoch: 92.0 to 96.0 %."
    )


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


def test_one_seed(one_seed: Path) -> None:
    figure = learning_curves(load(one_seed), AA)
    assert "Attention, 1 seed. " in figure.alternative
    assert "in the last epoch: 94.0 %." in figure.alternative
    assert "area" not in [kind for kind, _ in marks(figure.spec)]
