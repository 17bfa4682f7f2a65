from pathlib import Path

from reports.blocks import Figure
from reports.charts.graves import graves_charts
from reports.charts.look import BLUE, COLOURS, ORANGE
from reports.stored.artefacts import Artefacts, load
from reports.studies.graves.runs import graves_tasks
from tests.reports.charts.reading import axes, by_name, legend, marks, pick, rows
from tests.reports.conftest import GRAVES, Edit

WEIGHT = "ACT, ponder weight 0.001"


def graves_figures(artefacts: Artefacts) -> dict[str, Figure]:
    return by_name(c for task in graves_tasks(artefacts) for c in graves_charts(artefacts, task))


def test_seeds_means_and_a_level_by_ponder_weight(artefacts: Artefacts) -> None:
    figure = graves_figures(artefacts)["graves_error_parity"]
    seeds = rows(figure, "seed")
    assert [(row["x"], row["y"]) for row in seeds[:3]] == [(0.001, 4.0), (0.001, 5.0), (0.001, 3.0)]
    mean = pick(rows(figure, "low"), weight="0.01")
    assert (mean["y"], mean["low"], mean["high"], mean["n"]) == (20.0, 10.0, 30.0, "3")
    level = pick(rows(figure, "run"), run="without ACT")
    assert (level["y"], level["error"]) == (40.0, "40.0 ± 2.00")
    across = next(e["x"] for _, e in marks(figure.spec) if "x" in e)
    assert across["scale"] == {"type": "log", "domain": [0.001 / 1.5, 0.015], "nice": False}
    assert across["axis"]["values"] == [0.001, 0.01]
    below = ["points: seeds; diamonds: mean ± 1 sd;", "dashes:\u00a0without\u00a0ACT"]
    assert figure.spec["title"]["subtitle"] == below
    assert axes(figure) == {"x": "ponder weight", "y": "sequence error (%)"}


def test_no_level_where_nothing_went_without_act(folder: Path, edit: Edit) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda row: None if row["run"] == "without ACT" else row)
    figure = graves_figures(load(folder))["graves_error_parity"]
    assert rows(figure, "run") == [] and len(figure.spec["title"]["subtitle"]) == 1
    assert "without" not in figure.alternative


def test_no_weights_without_act(folder: Path, edit: Edit) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda r: r if r["run"] in ("without ACT", "fixed steps 3") else None)
    found = list(graves_figures(load(folder)))
    parity = [f"graves_{kind}_parity" for kind in ("difficulty", "curves")]
    assert found == parity + [f"graves_{k}_addition" for k in ("difficulty", "ponder", "curves")]


def test_error_by_steps_where_more_than_act_is_compared(artefacts: Artefacts) -> None:
    drawn = graves_figures(artefacts)
    assert "graves_halting_parity" not in drawn
    figure = drawn["graves_halting_addition"]
    assert legend(figure) == ["without ACT", "ACT", "fixed steps"]
    found = {row["series"]: row for row in rows(figure, "setting")}
    assert {way: (row["x"], row["y"]) for way, row in found.items()} == {
        **{"without ACT": (1.0, 22.0), "ACT": (3.0, 22.0), "fixed steps": (3.0, 26.0)}
    }
    assert (found["ACT"]["y_low"], found["ACT"]["y_high"]) == (20.0, 24.0)
    assert found["ACT"]["setting"] == "ACT, ponder weight 0.00005"
    assert axes(figure) == {"x": "mean steps per input", "y": "sequence error (%)"}
    assert "Lowest: without ACT. Best of each: without ACT 22.0 ± 2.00 % at" in figure.alternative


def test_errors_by_difficulty(artefacts: Artefacts) -> None:
    figure = graves_figures(artefacts)["graves_difficulty_addition"]
    assert legend(figure) == ["without ACT", "ACT, ponder weight 0.00005", "fixed steps 3"]
    # 22 % · 5 / 3, sd 2 % · 5 / 3; to four digits in the file
    last = pick(rows(figure, "x"), series="without ACT", x=5)
    assert (last["y"], last["shown"], last["n"]) == (36.667, "36.7 ± 3.34 %", "3")
    assert axes(figure) == {"x": "digits of a number", "y": "vectors in error (%)"}


def test_a_difficulty_of_which_nothing_is_asked_has_no_point(folder: Path, edit: Edit) -> None:
    def unasked(row: dict[str, str]) -> dict[str, str]:
        return row | {"asked": "0", "error": ""} if row["difficulty"] == "1" else row

    edit("graves/difficulty.csv", unasked)
    drawn = graves_figures(load(folder))
    assert {row["x"] for row in rows(drawn["graves_difficulty_addition"], "x")} == {2, 3, 4, 5}
    assert {row["x"] for row in rows(drawn["graves_ponder_addition"], "x")} == {1, 2, 3, 4, 5}


def test_steps_by_difficulty_of_those_that_halt(artefacts: Artefacts) -> None:
    figure = graves_figures(artefacts)["graves_ponder_parity"]
    assert legend(figure) == [WEIGHT, "ACT, ponder weight 0.01"]
    # 8, 9, 10 steps, less 3.5 · (0.5, 0.6, 0.4): 6.25, 6.9, 8.6
    first = pick(rows(figure, "x"), series=WEIGHT, x=1)
    assert (first["y"], first["shown"]) == (7.25, "7.25 ± 1.21")
    assert axes(figure) == {"x": "entries that are not 0", "y": "mean steps per input"}


def test_a_run_has_one_colour_in_all_figures(artefacts: Artefacts) -> None:
    drawn = graves_figures(artefacts)
    ranges = {}
    for kind in ("ponder", "curves"):
        figure = drawn[f"graves_{kind}_parity"]
        colours = [e["color"]["scale"] for _, e in marks(figure.spec) if "color" in e]
        ranges[kind] = colours[0]["range"]
    assert ranges == {"ponder": [BLUE, COLOURS[2]], "curves": [ORANGE, BLUE, COLOURS[2]]}


def test_errors_by_epoch(artefacts: Artefacts) -> None:
    figure = graves_figures(artefacts)["graves_curves_parity"]
    found = [row["y"] for row in rows(figure, "x") if row["series"] == "without ACT"]
    assert found == [50.0, 45.0, 40.0, 45.0]
