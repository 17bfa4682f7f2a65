from pathlib import Path

from reports.charts.accuracy import by_depth, stepping_models, steps_by_depth
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import axes, legend, pick, rows
from tests.reports.conftest import Edit

AA = "adaptive_attention"


def test_accuracy_by_depth_with_its_band(artefacts: Artefacts) -> None:
    figure = by_depth(artefacts)
    assert legend(figure) == ["Decomposable Attention", "Adaptive Attention"]
    # depth 2 of seeds 1 to 3 of AA: 0.83, 0.80, 0.83; mean 0.82, sd sqrt(0.0003) = 0.01732
    row = pick(rows(figure, "depth"), series="Adaptive Attention", depth="2")
    assert (row["y"], row["low"], row["high"]) == (82.0, 80.268, 83.732)
    assert (row["value"], row["n"], row["pairs"]) == ("82.0 ± 1.73 %", "3", "30")
    assert axes(figure) == {"x": "recorded depth", "y": "test accuracy (%)"}


def test_steps_only_of_models_that_take_any(artefacts: Artefacts) -> None:
    figure = steps_by_depth(artefacts)
    assert legend(figure) == ["Adaptive Attention"]
    # steps at depth 3 are one above those at depth 1: 4.5, 5.5 and 5 for seeds 1 to 3
    row = pick(rows(figure, "depth"), depth="3")
    assert (row["y"], row["low"], row["high"], row["value"]) == (5.0, 4.5, 5.5, "5.00 ± 0.50")


def test_their_words(artefacts: Artefacts) -> None:
    assert by_depth(artefacts).alternative == (
        "Test accuracy by recorded depth (mean ± 1 sd, 3 seeds): Decomposable Attention "
        "84.0 ± 1.00 % at depth 1 and 78.0 ± 1.00 % at depth 3; Adaptive Attention 85.0 ± 1.73 % "
        "at depth 1 and 79.0 ± 1.73 % at depth 3."
    )
    assert steps_by_depth(artefacts).alternative == (
        "Mean steps per test pair by recorded depth (mean ± 1 sd, 3 seeds): Adaptive "
        "Attention 4.00 ± 0.50 at depth 1 and 5.00 ± 0.50 at depth 3."
    )


def test_of_many_models_the_featured(many: Artefacts) -> None:
    names = ["Decomposable Attention", "Adaptive Attention", "Adaptive Attention, PonderNet"]
    assert legend(by_depth(many)) == names


def test_one_depth_is_told_once(folder: Path, edit: Edit) -> None:
    edit("evaluate/depth.csv", lambda row: row if row["depth"] == "2" else None)
    said = steps_by_depth(load(folder)).alternative
    assert said.endswith(": Adaptive Attention 4.50 ± 0.50 at depth 2.")


def test_no_model_steps_where_none_is_recorded(folder: Path, edit: Edit) -> None:
    edit("evaluate/depth.csv", lambda row: row | {"mean_steps": ""})
    assert stepping_models(load(folder)) == []
