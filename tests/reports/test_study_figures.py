from pathlib import Path

import pytest
from matplotlib.figure import Figure

from reports.artefacts import Artefacts, load
from reports.drawing import BLUE, GREY, ORANGE
from reports.study_figures import draw_fidelity, draw_halting, fidelity_size
from tests.reports.conftest import Edit, Row
from tests.reports.test_figures import places


def test_a_panel_per_model_and_an_interval_per_variant(artefacts: Artefacts) -> None:
    draw_fidelity(artefacts, figure := Figure())
    own, adaptive = figure.axes
    labels = [label.get_text() for label in own.get_yticklabels()]
    assert labels[:2] == ["scrambled", "unmasked"] and len(labels) == 11
    zero, interval, point = own.lines[:3]
    assert places(zero)[0] == [0, 0]
    assert places(interval)[0] == pytest.approx([-3.4, -1.5])
    assert places(point)[0] == pytest.approx([-2.5])
    assert own.yaxis_inverted()  # the first variant on top
    assert adaptive.get_title() == "Adaptive Attention: difference from “corrected”"
    assert "points" in adaptive.get_xlabel()


def test_clear_losses_and_gains_look_different(artefacts: Artefacts) -> None:
    draw_fidelity(artefacts, figure := Figure())
    points = [line for line in figure.axes[0].lines if line.get_ls() == "None"]
    looks = [(point.get_color(), point.get_marker()) for point in points]
    assert looks[0] == (ORANGE, "v")  # scrambled
    assert looks[1] == (GREY, "o")  # unmasked
    assert looks[9] == (BLUE, "^")  # converged


def test_every_variant_makes_the_figure_taller(
    artefacts: Artefacts, folder: Path, edit: Edit
) -> None:
    for file in ("variants", "timings"):
        edit(f"fidelity/{file}.csv", lambda r: None if r["variant"] == "siblings" else r)
    assert fidelity_size(load(folder))[1] < fidelity_size(artefacts)[1]


def test_a_marker_per_way_of_halting_with_both_spreads(artefacts: Artefacts) -> None:
    draw_halting(artefacts, figure := Figure())
    (axes,) = figure.axes
    act, *others = axes.containers
    line, _, bars = act.lines  # type: ignore[attr-defined]
    assert places(line)[0] == [1.1, 4.0, 9.0]
    assert places(line)[1] == pytest.approx([70.0, 74.0, 73.5])
    across, up = (bar.get_segments()[1] for bar in bars)
    assert across[:, 0].tolist() == pytest.approx([3.1, 4.9])
    assert up[:, 1].tolist() == pytest.approx([72.8, 75.2])
    assert len({line.get_marker() for line in axes.lines}) == len(others) + 1 == 6
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mean steps per dev pair", "dev accuracy (%)")


def test_one_seed_is_said_to_be_one(folder: Path, edit: Edit) -> None:
    def one(row: Row) -> Row:
        return row | {"seeds": "1", "dev_accuracy_sd": "", "mean_steps_sd": ""}

    edit("halting/points.csv", one)
    edit("halting/timings.csv", lambda row: row if row["seed"] == "1" else None)
    draw_halting(load(folder), figure := Figure())
    assert figure.get_suptitle().endswith("(1 seed)")
