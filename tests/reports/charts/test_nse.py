from pathlib import Path

from reports.blocks import Figure
from reports.charts.look import BLUE, COLOURS, ORANGE
from reports.charts.nse import nse_charts
from reports.stored.artefacts import Artefacts, load
from reports.studies.nse.runs import nse_kinds
from tests.reports.charts.reading import axes, by_name, legend, marks, pick, rows
from tests.reports.conftest import GATED, HALTING, ONE, Edit, settle


def nse_figures(artefacts: Artefacts) -> dict[str, Figure]:
    return by_name(c for kind in nse_kinds(artefacts) for c in nse_charts(artefacts, kind))


def test_accuracy_by_steps_with_seeds_and_levels(artefacts: Artefacts) -> None:
    figure = nse_figures(artefacts)["nse_accuracy_NE"]
    assert legend(figure) == [
        *("query gating", "adaptive computation"),
        *("one step", "most frequent candidate"),
    ]
    mean = pick(rows(figure, "low"), series="adaptive computation")
    # beside each other: a tenth of a step to either side of 6
    assert (mean["x"], mean["y"], mean["low"], mean["high"]) == (6.1, 59.0, 56.354, 61.646)
    assert (mean["steps"], mean["accuracy"], mean["n"]) == ("6", "59.0 ± 2.65", "3")
    seeds = [row for row in rows(figure, "x") if "low" not in row]
    assert [(row["x"], row["y"]) for row in seeds[:3]] == [(5.9, 60.0), (5.9, 62.0), (5.9, 61.0)]
    levels = [row for row in rows(figure, "y") if "x" not in row]
    assert [(row["series"], row["y"], row["n"]) for row in levels] == [
        *(("one step", 58.0, "3"), ("most frequent candidate", 35.0, "")),
    ]
    assert axes(figure) == {"x": "steps T", "y": "test accuracy (%)"}


def test_levels_can_be_told_apart_without_colour(artefacts: Artefacts) -> None:
    spec = nse_figures(artefacts)["nse_accuracy_NE"].spec
    dashes = [m["mark"]["strokeDash"] for m in spec["layer"] if "strokeDash" in m["mark"]]
    assert dashes == [[7, 3], [2, 3]]


def test_one_strategy_stands_at_its_steps(folder: Path, edit: Edit) -> None:
    for file in ("results", "runs", "history", "steps", "timings"):
        edit(f"nse/{file}.csv", lambda row: None if row["run"] == GATED else row)
    (folder / "nse" / "queries.jsonl").write_text("", encoding="utf-8")
    settle(folder)
    figure = nse_figures(load(folder))["nse_accuracy_NE"]
    assert {row["x"] for row in rows(figure, "x")} == {6.0}
    colours = [e["color"]["scale"]["range"] for _, e in marks(figure.spec) if "color" in e]
    assert colours[0][0] == ORANGE


def test_curves_of_training_and_dev(artefacts: Artefacts) -> None:
    figure = nse_figures(artefacts)["nse_curves_NE"]
    assert legend(figure) == [ONE, GATED, HALTING]
    dev = [
        row["y"] for row in rows(figure, "part") if (row["series"], row["part"]) == (GATED, "dev")
    ]
    assert dev == [61.0, 63.0, 65.0, 63.0]
    last = pick(rows(figure, "part"), series=ONE, part="training, with dropout", x=4)
    assert (last["y"], last["accuracy"], last["n"]) == (64.0, "64.0 ± 1.00 %", "3")
    assert axes(figure) == {"x": "epoch", "y": "accuracy (%)"}


def test_weights_of_steps_are_those_of_runs_that_halt(artefacts: Artefacts) -> None:
    figure = nse_figures(artefacts)["nse_weights_NE"]
    assert legend(figure) == [HALTING]
    assert [row["y"] for row in rows(figure, "x")] == [50.0, *[10.0] * 5]
    assert axes(figure) == {"x": "step", "y": "weight in the answer (%)"}
    alone = nse_figures(artefacts)["nse_alone_NE"]
    assert legend(alone) == [GATED, HALTING]
    assert pick(rows(alone, "x"), series=GATED, x=5)["shown"] == "61.0 ± 1.00 %"


def test_a_run_has_one_colour_in_all_lines(artefacts: Artefacts) -> None:
    drawn = nse_figures(artefacts)
    ranges = {}
    for what in ("curves", "weights", "alone"):
        found = [
            e["color"]["scale"]["range"]
            for _, e in marks(drawn[f"nse_{what}_NE"].spec)
            if "color" in e
        ]
        ranges[what] = found[0]
    assert ranges == {
        "curves": [ORANGE, BLUE, COLOURS[2]],
        "weights": [COLOURS[2]],
        "alone": [BLUE, COLOURS[2]],
    }


def test_one_step_alone_has_only_its_curve(folder: Path, edit: Edit) -> None:
    for file in ("results", "runs", "history", "steps", "timings"):
        edit(f"nse/{file}.csv", lambda row: row if row["run"] == ONE else None)
    (folder / "nse" / "queries.jsonl").write_text("", encoding="utf-8")
    assert list(nse_figures(load(folder))) == ["nse_curves_NE", "nse_curves_CN"]
