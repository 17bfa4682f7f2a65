from pathlib import Path

import pytest

from reports.blocks import DASH
from reports.stored.artefacts import Artefacts, load
from reports.tables.ablation import ablation_table, best_fixed, points
from tests.reports.conftest import Edit, Row


def row_of(table: str, first: str) -> list[str]:
    rows = [line.strip("|").split(" | ") for line in table.splitlines()]
    return next([c.strip() for c in row] for row in rows if row[0].strip().startswith(first))


def test_gains_are_taken_seed_by_seed(artefacts: Artefacts) -> None:
    at = {(p.reading, p.steps): p for p in points(artefacts.ablation_test)}
    # adaptive 0.83, 0.80, 0.83 minus state after 2 steps 0.70, 0.71, 0.72: 0.13, 0.09, 0.11
    gain = at["state", 2].gain
    assert gain is not None
    assert (gain.mean, gain.sd, gain.n) == (0.11, 0.02, 3)
    # minus capped at 8, 0.83, 0.81, 0.83: 0, -0.01, 0
    assert (gain := at["capped", 8].gain) is not None
    assert gain.mean == pytest.approx(-0.01 / 3)
    assert at["adaptive", None].gain is None


def test_table_has_both_readings_and_the_papers_column(artefacts: Artefacts) -> None:
    table = str(ablation_table(artefacts, published=True))
    two = ["2", "71.0 ± 1.00", "+11.00 ± 2.00", "75.0 ± 0.00", "+7.00 ± 1.73", "76.2"]
    assert row_of(table, "2") == two
    assert row_of(table, "8")[-1] == "81.0"
    own = row_of(table, "adaptive")
    assert own[0] == "adaptive (mean 4.50 ± 0.50)"
    assert (own[1], own[-1]) == ("82.0 ± 1.73", "82.7 (mean 5)")


def test_the_papers_column_can_be_left_out(artefacts: Artefacts) -> None:
    assert "paper" not in str(ablation_table(artefacts, published=False))


def test_steps_that_the_paper_has_not(folder: Path, edit: Edit) -> None:
    edit("ablate/test.csv", lambda row: row | {"steps": row["steps"].replace("8", "7")})
    assert row_of(str(ablation_table(load(folder), published=True)), "7")[-1] == DASH


def test_the_fixed_steps_to_compare_with_are_chosen_on_dev(folder: Path, edit: Edit) -> None:
    def best_on_test_is_four(row: Row) -> Row:
        return (
            row | {"accuracy": "0.99"} if (row["reading"], row["steps"]) == ("state", "4") else row
        )

    edit("ablate/test.csv", best_on_test_is_four)
    best = best_fixed(load(folder), "state")
    assert best is not None and best.steps == 8


def test_the_fewest_of_equally_good_steps(folder: Path, edit: Edit) -> None:
    edit("ablate/dev.csv", lambda row: row | {"accuracy": "0.5"})
    best = best_fixed(load(folder), "capped")
    assert best is not None and best.steps == 2


def test_no_choice_where_dev_has_other_steps(folder: Path, edit: Edit) -> None:
    edit("ablate/dev.csv", lambda row: None if row["steps"] in ("2", "4", "8") else row)
    assert best_fixed(load(folder), "state") is None
