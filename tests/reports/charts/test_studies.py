from reports.charts.look import BLUE, ORANGE
from reports.charts.studies import STEP, fidelity, halting
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts
from tests.reports.charts.reading import axes, legend, marks, rows

DA, AA = "decomposable_attention", "adaptive_attention"


def test_an_interval_per_variant(artefacts: Artefacts) -> None:
    figure = fidelity(artefacts, DA)
    found = rows(figure, "name")[:11]
    assert [row["name"] for row in found[:2]] == ["scrambled", "unmasked"]
    first = found[0]
    assert (first["x"], first["low"], first["high"]) == (-2.5, -3.4, -1.5)
    assert first["difference"] == f"{MINUS}2.50 ({MINUS}3.40 to {MINUS}1.50)"
    assert (first["test"], first["n"], first["pairs"]) == ("78.5 ± 1.10 %", "3", "100")
    assert first["changes"] == "scrambled_alignment: True"
    assert axes(figure)["x"] == "difference in test accuracy (points)"
    order = [e["y"]["sort"] for kind, e in marks(figure.spec) if kind == "point"]
    assert order == [[row["name"] for row in found]]  # the first on top
    assert figure.spec["height"] == 11 * STEP


def test_clear_losses_and_gains_look_different(artefacts: Artefacts) -> None:
    figure = fidelity(artefacts, DA)
    found = rows(figure, "name")[:11]
    looks = {row["name"]: row["series"] for row in found}
    assert looks["scrambled"] == "clearly below" and looks["converged"] == "clearly above"
    assert looks["unmasked"] == looks["raw vectors"] == "not clear"
    points = next(e for kind, e in marks(figure.spec) if kind == "point")
    assert points["color"]["scale"]["range"][::2] == [ORANGE, BLUE]
    assert len(set(points["shape"]["scale"]["range"])) == 3


def test_a_series_per_way_of_halting_with_both_spreads(artefacts: Artefacts) -> None:
    figure = halting(artefacts)
    names = ["ACT", "supervised ACT", "DACT", "PonderNet", "fixed steps", "target steps"]
    assert legend(figure) == names
    act = [row for row in rows(figure, "setting") if row["series"] == "ACT"]
    assert [(row["x"], row["y"]) for row in act] == [(1.1, 70.0), (4.0, 74.0), (9.0, 73.5)]
    middle = act[1]
    assert (middle["x_low"], middle["x_high"]) == (3.1, 4.9)
    assert (middle["y_low"], middle["y_high"]) == (72.8, 75.2)
    assert (middle["share"], middle["steps"]) == ("74.0 ± 1.20 %", "4.00 ± 0.90")
    assert middle["setting"] == "ponder_weight 0.001"
    assert axes(figure) == {"x": "mean steps per dev pair", "y": "dev accuracy (%)"}
