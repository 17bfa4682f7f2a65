from pathlib import Path

import pytest

from reports.charts.curves import steps_while_training
from reports.charts.trials import ponder_steps, ponder_weight
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import axes, legend, marks, pick, rows
from tests.reports.conftest import Edit

AA = "adaptive_attention"


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


def test_their_words(artefacts: Artefacts) -> None:
    assert ponder_weight(artefacts, AA).alternative == (
        "Dev accuracy of Adaptive Attention by ponder weight, mean ± sd of the sweep's trials: "
        "80.5 ± 0.71 % at 0.00005, 82.5 ± 0.71 % at 0.001."
    )
    assert ponder_steps(artefacts, AA).alternative == (
        "Mean steps per dev pair of Adaptive Attention by ponder weight, mean ± sd of the sweep's "
        "trials: 9.00 ± 0.00 at 0.00005, 4.00 ± 0.00 at 0.001."
    )


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
    assert figure.alternative == (
        "Mean steps of Adaptive Attention by epoch and ponder weight, over the sweep's trials. Per "
        "dev pair after the last epoch: 9.00 (sd 0.75) at 0.00005, 4.00 (sd 0.75) at 0.001."
    )


@pytest.mark.parametrize("of", [ponder_weight, ponder_steps])
def test_trials_stand_beside_one_another(of: object, artefacts: Artefacts) -> None:
    found = rows(of(artefacts, AA), "key")  # type: ignore[operator]
    assert len({row["beside"] for row in found}) == 4
    assert all(0 <= row["beside"] < 1 for row in found)
