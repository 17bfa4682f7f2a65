from pathlib import Path

import matplotlib.colors as colors
import numpy as np
import pytest
from matplotlib.figure import Figure

from reports.artefacts import Artefacts, load
from reports.step_figures import draw_lengths, draw_ponder_weight, draw_steps_by_epoch
from tests.reports.conftest import Edit
from tests.reports.test_figures import places

AA = "adaptive_attention"


def test_ponder_weights_are_evenly_spaced(artefacts: Artefacts) -> None:
    draw_ponder_weight(artefacts, AA, figure := Figure())
    accuracy, steps = figure.axes
    assert places(accuracy.lines[-1])[1] == pytest.approx([80.5, 82.5])
    assert places(steps.lines[-1])[1] == [9.0, 4.0]
    assert [label.get_text() for label in steps.get_xticklabels()] == ["0.00005", "0.001"]


def test_many_ponder_weights_have_slanting_labels(folder: Path, edit: Edit) -> None:
    weights = iter(("0.1", "0.01", "0.001", "0.0001", "1e-05"))
    extra = {"aa05": 0, "aa06": 1, "aa07": 2, "aa08": 3, "da01": 4}
    edit(
        "sweep/trials.csv",
        lambda r: r | ({"ponder_weight": next(weights), "model": AA} if r["key"] in extra else {}),
    )
    draw_ponder_weight(load(folder), AA, figure := Figure())
    assert {label.get_rotation() for label in figure.axes[0].get_xticklabels()} == {45.0}


def test_steps_by_epoch_have_a_line_and_a_band_per_ponder_weight(artefacts: Artefacts) -> None:
    draw_steps_by_epoch(artefacts, AA, figure := Figure())
    assert [axes.get_title() for axes in figure.axes] == ["training pairs", "dev pairs"]
    for axes in figure.axes:
        light, heavy = axes.lines
        assert places(light) == ([1, 2, 3], [9.0, 9.0, 9.0])
        assert places(heavy) == ([1, 2, 3], [4.0, 4.0, 4.0])
        assert [line.get_label() for line in axes.lines] == ["λ = 0.00005", "λ = 0.001"]
        low = axes.collections[0].get_paths()[0].vertices
        assert np.asarray(low)[:, 1].min() == 8.25  # one sd of 0.75 below
    assert light.get_color() != heavy.get_color()


def test_joint_and_marginal_distributions(artefacts: Artefacts) -> None:
    draw_lengths(artefacts, AA, figure := Figure())
    joint, above, beside, bar = figure.axes
    (mesh,) = joint.collections
    counts = np.ma.filled(np.asarray(mesh.get_array()), np.nan)
    assert np.nansum(counts) == 300 and np.isnan(counts).any()  # no pair: left white
    assert isinstance(mesh.norm, colors.LogNorm)
    assert sum(patch.get_height() for patch in above.patches) == 300
    assert sum(patch.get_width() for patch in beside.patches) == 300
    assert joint.get_ylabel() == "steps" and bar.get_ylabel() == "pairs"


def test_a_collapsed_model_is_drawn_too(folder: Path, edit: Edit) -> None:
    edit("evaluate/lengths.csv", lambda row: row | {"steps": "1", "mean_length": "8.0"})
    edit("evaluate/results.csv", lambda r: r | {"test_mean_steps": r["test_mean_steps"] and "1.0"})
    draw_lengths(load(folder), AA, figure := Figure())
    assert np.asarray(figure.axes[0].collections[0].get_array()).tolist() == [[300.0]]
