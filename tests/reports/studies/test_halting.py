from pathlib import Path

import pytest

from reports.blocks import DASH
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.studies.halting import (
    halting_depth_table,
    halting_points,
    halting_sentences,
    halting_table,
)
from tests.reports.conftest import Edit


def rows(artefacts: Artefacts) -> list[list[str]]:
    lines = str(halting_table(artefacts)).splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_rows_by_hand(artefacts: Artefacts) -> None:
    found = rows(artefacts)
    act = ["ACT", "ponder_weight 0.00005", "3", "73.5 ± 1.50", "9.00 ± 2.50", DASH]
    assert found[2] == [*act, "0 of 3", "0.00005"]
    # a third of three runs collapsed
    assert found[4][:2] == ["DACT", "ponder_weight 0.01"] and found[4][6] == "1 of 3"
    # a fixed number of steps is neither a collapse nor paid for
    assert found[7][:2] == ["fixed steps", "steps 1"] and found[7][6:] == [DASH, DASH]
    # 5.7 / 6 - 1
    assert found[-1][5:] == [f"{MINUS}5.0", "0 of 3", f"{MINUS}0.0004"]


def test_by_depth(artefacts: Artefacts) -> None:
    table = halting_depth_table(artefacts)
    assert table.header[2:] == ["depth 1 (50 pairs), %", "depth 2 (50 pairs), %"]
    # 73.5 + 15 - 10 * depth + the seed, 1 to 3: two points more, one of them apart
    act = ["ACT", "ponder_weight 0.00005", "80.5 ± 1.00", "70.5 ± 1.00"]
    assert table.rows[2] == act and len(table.rows) == len(halting_points(artefacts))


def test_settings_of_a_point(artefacts: Artefacts) -> None:
    point = halting_points(artefacts)[5]
    assert point.settings == {"ponder_weight": "0.01", "prior_steps": "3.0"}
    assert point.off_target is None
    assert halting_points(artefacts)[-2].off_target == pytest.approx(0.02)


def test_targets_and_the_best_ponder_weight(artefacts: Artefacts) -> None:
    text = halting_sentences(artefacts)
    # 0.737 - 0.74; sqrt((0.9² + 1.2²) / 3) = 0.87 points
    assert (
        "With target_steps 3.0 the mean steps are 3.06 ± 0.05, 2.0 % above the target; dev "
        "accuracy is below that of ACT with ponder_weight 0.001, its best of 3 on dev "
        f"({MINUS}0.30 points, standard error 0.87; not a clear difference)."
    ) in text
    # 0.72 - 0.74; sqrt((0.6² + 1.2²) / 3) = 0.77, times Student's 3.2 is 2.5
    assert "5.0 % below the target; dev accuracy is below that of ACT with" in text
    assert f"({MINUS}2.00 points, standard error 0.77; not a clear difference)." in text


def test_a_target_that_gains(folder: Path, edit: Edit) -> None:
    better = {"dev_accuracy_mean": "0.8"}
    edit("halting/points.csv", lambda r: r | better if r["kind"] == "target_steps" else r)
    assert "above that of ACT with ponder_weight 0.001" in halting_sentences(load(folder))


def test_no_collapse_is_said(folder: Path, edit: Edit) -> None:
    edit("halting/points.csv", lambda row: row | {"collapsed": "0.0"})
    assert "No run collapsed." in halting_sentences(load(folder))


def only(edit: Edit, *kinds: str) -> None:
    edit("halting/points.csv", lambda row: row if row["kind"] in kinds else None)


def test_targets_without_act_are_compared_with_nothing(folder: Path, edit: Edit) -> None:
    only(edit, "target_steps")
    text = halting_sentences(load(folder))
    assert text.startswith("With target_steps 3.0 the mean steps are 3.06 ± 0.05, 2.0 % above the")
    assert "ACT" not in text and "dev accuracy" not in text


def test_no_column_for_targets_where_there_are_none(folder: Path, edit: Edit) -> None:
    only(edit, "act")
    assert "target" not in str(halting_table(load(folder)))
    assert "target" not in halting_sentences(load(folder))


def test_fixed_steps_alone_say_nothing(folder: Path, edit: Edit) -> None:
    only(edit, "fixed_steps")
    assert halting_sentences(load(folder)) == ""
