from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reports import figures
from reports.artefacts import Artefacts, load
from reports.figures import draw_ablation, draw_all, draw_depth, draw_learning_curves, plans
from tests.reports.conftest import Edit

AA = "adaptive_attention"


def places(line: Line2D) -> tuple[list[float], list[float]]:
    across, up = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    return across.tolist(), up.tolist()


def test_ablation_shows_both_readings_and_the_adaptive_mean(artefacts: Artefacts) -> None:
    draw_ablation(artefacts, figure := Figure())
    (axes,) = figure.axes
    state, capped, adaptive = axes.lines
    assert places(state)[0] == places(capped)[0] == list(range(1, 21))
    assert places(adaptive)[1] == pytest.approx([84.0, 84.0])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("inference steps k", "dev accuracy (%)")
    assert len(axes.collections) == 2  # a band each
    assert len(axes.patches) == 1  # and the adaptive one's


def test_one_seed_has_no_bands(one_seed: Path) -> None:
    draw_ablation(load(one_seed), figure := Figure())
    assert not figure.axes[0].collections and not figure.axes[0].patches


def test_learning_curves_mark_the_epoch_that_was_kept(artefacts: Artefacts) -> None:
    draw_learning_curves(artefacts, figure := Figure())
    marks = [line for line in figure.axes[1].lines if line.get_marker() == "o"]
    kept = [places(mark) for mark in marks if places(mark) != ([], [])]
    assert kept == [([4], [84.0]), ([4], [82.0]), ([4], [86.0])]


def test_learning_curves_stand_in_rows_of_four(many: Artefacts) -> None:
    draw_learning_curves(many, figure := Figure())
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[2:] == [
        *("Adaptive Attention,\nfixed steps", "LSTM Encoders", "Word-by-Word Attention"),
        "Adaptive Attention,\nPonderNet",
    ]
    grid = figure.axes[0].get_gridspec()
    assert grid is not None and (grid.nrows, grid.ncols) == (2, 4)
    # the row's first has the y label, what has nothing below it the x label
    assert [bool(axes.get_ylabel()) for axes in figure.axes] == [True, *[False] * 3, True, False]
    assert [bool(axes.get_xlabel()) for axes in figure.axes] == [False, False, *[True] * 4]


def test_depth_has_steps_only_of_models_that_halt(artefacts: Artefacts) -> None:
    draw_depth(artefacts, figure := Figure())
    accuracy, steps = figure.axes
    assert (len(accuracy.lines), len(steps.lines)) == (2, 1)


def test_depth_of_many_models_shows_the_featured(many: Artefacts) -> None:
    draw_depth(many, figure := Figure())
    labels = [line.get_label() for line in figure.axes[0].lines]
    models = ["Decomposable Attention", "Adaptive Attention", "Adaptive Attention, PonderNet"]
    assert labels == models


def test_each_weighed_model_has_figures_of_its_own(many: Artefacts) -> None:
    names = set(plans(many))
    for model in (AA, f"{AA}_ponder_net"):
        wanted = {f"ponder_weight_{model}", f"steps_by_epoch_{model}", f"lengths_{model}"}
        assert wanted <= names
    assert not [name for name in names if name.endswith("fixed_steps")]


def test_no_figure_without_its_data(folder: Path, edit: Edit) -> None:
    edit("evaluate/depth.csv", lambda row: None)
    edit("sweep/trials.csv", lambda row: row | {"ponder_weight": row["ponder_weight"] and "0.1"})
    for file in ("fidelity/variants", "fidelity/timings", "halting/points", "halting/timings"):
        edit(f"{file}.csv", lambda row: None)
    assert list(plans(load(folder))) == ["ablation", "learning_curves", f"lengths_{AA}"]


def test_figures_of_an_earlier_report_go(
    artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    depth = {"depth": plans(artefacts)["depth"]}
    monkeypatch.setattr(figures, "plans", lambda _: depth)
    (tmp_path / "ablation.png").write_bytes(b"of an earlier report")
    assert draw_all(artefacts, tmp_path) == {"depth": tmp_path / "depth.png"}
    assert [path.name for path in tmp_path.iterdir()] == ["depth.png"]
