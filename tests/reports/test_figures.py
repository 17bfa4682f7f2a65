from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reports.artefacts import Artefacts, load
from reports.figures import (
    draw_ablation,
    draw_all,
    draw_depth,
    draw_learning_curves,
    draw_ponder_weight,
    ponder_weights,
)
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


def test_ponder_weights_run_from_small_to_large(artefacts: Artefacts) -> None:
    assert ponder_weights(artefacts, AA) == ["5e-05", "0.001"]
    assert ponder_weights(artefacts, "decomposable_attention") == []
    draw_ponder_weight(artefacts, AA, figure := Figure())
    accuracy, steps = figure.axes
    assert places(accuracy.lines[-1])[1] == pytest.approx([80.5, 82.5])
    assert places(steps.lines[-1])[1] == [9.0, 4.0]
    assert [label.get_text() for label in steps.get_xticklabels()] == ["0.00005", "0.001"]


def test_depth_has_steps_only_of_models_that_halt(artefacts: Artefacts) -> None:
    draw_depth(artefacts, figure := Figure())
    accuracy, steps = figure.axes
    assert (len(accuracy.lines), len(steps.lines)) == (2, 1)


def test_figures_without_data_are_not_made_and_old_ones_go(
    folder: Path, edit: Edit, tmp_path: Path
) -> None:
    edit("evaluate/depth.csv", lambda row: None)
    edit("sweep/trials.csv", lambda row: row | {"ponder_weight": row["ponder_weight"] and "0.1"})
    out = tmp_path / "figures"
    out.mkdir()
    (out / "depth.png").write_bytes(b"of an earlier report")
    assert list(draw_all(load(folder), out)) == ["ablation", "learning_curves"]
    assert sorted(p.name for p in out.iterdir()) == ["ablation.png", "learning_curves.png"]
