from pathlib import Path

import pytest

from reports.charts.trials import ponder_steps, ponder_weight, slices
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import axes, marks, pick, rows
from tests.reports.conftest import Edit

DA, AA = "decomposable_attention", "adaptive_attention"


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


def test_trials_and_their_means_by_weight(artefacts: Artefacts) -> None:
    figure = ponder_weight(artefacts, AA)
    trials = rows(figure, "key")
    assert [(row["key"], row["weight"], row["y"]) for row in trials] == [
        ("aa07", "0.00005", 81.0),
        ("aa08", "0.00005", 80.0),
        ("aa05", "0.001", 83.0),
        ("aa06", "0.001", 82.0),
    ]
    # 83 and 82: mean 82.5, sd sqrt(0.5) = 0.70711
    mean = pick(rows(figure, "low"), weight="0.001")
    assert (mean["y"], mean["low"], mean["high"]) == (82.5, 81.793, 83.207)
    assert (mean["value"], mean["n"]) == ("82.5 ± 0.71 %", "2")
    assert axes(figure) == {"x": "ponder weight λ", "y": "dev accuracy (%)"}


def test_steps_by_weight(artefacts: Artefacts) -> None:
    figure = ponder_steps(artefacts, AA)
    assert [row["y"] for row in rows(figure, "low")] == [9.0, 4.0]
    assert {row["value"] for row in rows(figure, "key")} == {"9.00", "4.00"}
    assert axes(figure)["y"] == "mean steps per dev pair"


def test_weights_are_evenly_spaced_and_the_smallest_is_first(artefacts: Artefacts) -> None:
    for _, encoding in marks(ponder_weight(artefacts, AA).spec):
        assert encoding["x"]["type"] == "nominal"
        assert encoding["x"]["sort"] == ["0.00005", "0.001"]
        assert encoding["x"]["axis"]["labelAngle"] == 0


def test_many_weights_have_slanting_labels(folder: Path, edit: Edit) -> None:
    weights = iter(("0.1", "0.01", "0.001", "0.0001", "0.0002", "0.0003", "0.0004"))

    def more(row: dict[str, str]) -> dict[str, str]:
        kept = row["key"] == "da04"
        return row if kept else row | {"ponder_weight": next(weights), "model": AA}

    edit("sweep/trials.csv", more)
    figure = ponder_weight(load(folder), AA)
    angles = {encoding["x"]["axis"]["labelAngle"] for _, encoding in marks(figure.spec)}
    assert angles == {-40}
    assert figure.alternative.endswith(", 82.0 % at 0.1.")


def test_a_trial_without_steps_is_not_drawn(folder: Path, edit: Edit) -> None:
    def lose(row: dict[str, str]) -> dict[str, str]:
        return row | {"dev_mean_steps": ""} if row["key"] == "aa05" else row

    edit("sweep/trials.csv", lose)
    assert pick(rows(ponder_steps(load(folder), AA), "key"), key="aa05")["y"] is None


@pytest.mark.parametrize("of", [ponder_weight, ponder_steps])
def test_trials_stand_beside_one_another(of: object, artefacts: Artefacts) -> None:
    found = rows(of(artefacts, AA), "key")  # type: ignore[operator]
    assert len({row["beside"] for row in found}) == 4
    assert all(0 <= row["beside"] < 1 for row in found)
