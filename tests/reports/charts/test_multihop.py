from pathlib import Path

from reports.charts.multihop import multihop_charts
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import axes, by_name, legend, marks, pick, rows
from tests.reports.conftest import Edit

ACT, FIXED = "ACT, ponder_weight 0.001", "fixed steps, steps 2"


def test_two_panels_side_by_side(artefacts: Artefacts) -> None:
    charts = list(multihop_charts(artefacts))
    assert [chart.name for chart in charts] == ["multihop_accuracy", "multihop_steps"]
    assert all(chart.half for chart in charts)


def test_accuracy_with_its_band_and_chance(artefacts: Artefacts) -> None:
    figure = by_name(multihop_charts(artefacts))["multihop_accuracy"]
    assert legend(figure) == [ACT, FIXED, "chance (33.3 %)"]
    assert axes(figure) == {"x": "hops", "y": "test accuracy (%)"}
    # 0.8 and 0.7: mean 0.75, sd 0.1 / sqrt(2)
    row = pick(rows(figure, "at"), series=ACT, at="5")
    assert (row["x"], row["y"], row["low"], row["high"]) == (5, 75.0, 67.929, 82.071)
    assert (row["shown"], row["n"]) == ("75.0 ± 7.07 %", "2")
    level = [row for row in rows(figure, "x") if row["series"] == "chance (33.3 %)"]
    assert [(row["x"], row["y"]) for row in level] == [(1, 33.333), (6, 33.333)]
    assert "Dashed: chance (33.3 %)." in figure.alternative


def test_names_of_two_architectures(folder: Path, edit: Edit) -> None:
    for file in ("results", "hops"):
        edit(
            f"multihop/{file}.csv",
            lambda row: row | {"model": row["model"].replace("hop_attention_fixed", "tree_fixed")},
        )
    names = legend(by_name(multihop_charts(load(folder)))["multihop_accuracy"])
    assert names[:2] == [f"Hop Attention, {ACT}", "Tree, fixed steps, steps 2"]


def test_steps_and_the_diagonal(artefacts: Artefacts) -> None:
    figure = by_name(multihop_charts(artefacts))["multihop_steps"]
    assert pick(rows(figure, "at"), series=ACT, at="4")["shown"] == "4.10 ± 0.14"
    diagonal = [row for row in rows(figure, "x") if row["series"] == "steps = hops"]
    assert [(row["x"], row["y"]) for row in diagonal] == [(1, 1), (6, 6)]


def test_untrained_depths_are_shaded(artefacts: Artefacts, folder: Path, edit: Edit) -> None:
    for figure in by_name(multihop_charts(artefacts)).values():
        assert rows(figure, "left") == [{"left": 4.5, "right": 6.3, "name": "never trained"}]
    edit("multihop/hops.csv", lambda row: row if row["trained"] == "True" else None)
    for figure in by_name(multihop_charts(load(folder))).values():
        assert not {"rect", "text"} & {kind for kind, _ in marks(figure.spec)}


def test_no_panel_of_steps_without_steps(folder: Path, edit: Edit) -> None:
    edit("multihop/hops.csv", lambda row: row | {"mean_steps": ""})
    assert [chart.name for chart in multihop_charts(load(folder))] == ["multihop_accuracy"]


def test_steps_against_accuracy_of_two_mechanisms(folder: Path, edit: Edit) -> None:
    for file in ("results", "hops"):
        edit(
            f"multihop/{file}.csv",
            lambda row: row | {"model": row["model"].replace("fixed_steps", "ponder_net")},
        )
    figure = by_name(multihop_charts(load(folder)))["multihop_pareto"]
    assert legend(figure) == ["ACT", "PonderNet"]
    # over 1 to 4 hops 2.7 and 2.5 steps; over 5 and 6 hops 0.7 and 0.6 right
    row = pick(rows(figure, "setting"), series="ACT")
    assert (row["x"], row["y"]) == (2.6, 65.0)
    assert axes(figure)["y"] == "accuracy at untrained depths (%)"
    assert figure.alternative == (
        "Mean steps over trained depths against accuracy at untrained depths, 2 runs."
    )
