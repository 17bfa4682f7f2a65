import csv
import io
from pathlib import Path

from reports.blocks import DASH
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.studies.fidelity import (
    Variant,
    fidelity_csv,
    fidelity_models,
    fidelity_table,
    variants,
)
from tests.reports.conftest import Edit

DA, AA = "decomposable_attention", "adaptive_attention"


def by_name(artefacts: Artefacts, model: str) -> dict[str, Variant]:
    return {variant.name: variant for variant in variants(artefacts, model)}


def cells(table: str, first: str) -> list[str]:
    rows = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()]
    return next(row for row in rows if row[0] == first)


def test_shares_of_the_gap_by_hand(artefacts: Artefacts) -> None:
    found = by_name(artefacts, DA)
    # -0.025, -0.005 and +0.001 of -0.04
    assert found["scrambled"].share == 0.625
    assert found["unmasked"].share == 0.125
    assert found["dropped batches"].share == -0.025
    assert found["as published"].share == 1


def test_only_parts_of_what_was_published_have_a_share(artefacts: Artefacts) -> None:
    without = {v.name for v in variants(artefacts, DA) if v.share is None}
    others = {"unit vectors", "raw vectors", "small normal start", "converged", "word types"}
    assert without == {"corrected", *others}


def test_no_share_of_a_gap_that_is_not_clear(artefacts: Artefacts) -> None:
    assert all(variant.share is None for variant in variants(artefacts, AA))
    assert "share of the gap" not in str(fidelity_table(artefacts, AA))


def test_no_share_without_the_variant_as_published(folder: Path, edit: Edit) -> None:
    for file in ("variants", "timings"):
        edit(f"fidelity/{file}.csv", lambda r: None if r["variant"] == "as published" else r)
    assert all(variant.share is None for variant in variants(load(folder), DA))


def test_rows_by_hand(artefacts: Artefacts) -> None:
    table = str(fidelity_table(artefacts, DA))
    assert cells(table, "scrambled") == [
        *("scrambled", "`scrambled_alignment: True`", "3", "80.0 ± 0.80", "78.5 ± 1.10"),
        *(f"{MINUS}2.50 ({MINUS}3.40 to {MINUS}1.50)", "< 0.001", "62"),
    ]
    assert cells(table, "corrected")[1:] == [
        *("nothing", "3", "82.5 ± 0.80", "81.0 ± 1.10", DASH, DASH, DASH)
    ]
    assert cells(table, "small normal start")[-2:] == ["0.040", DASH]


def test_steps_only_of_a_model_that_takes_some(artefacts: Artefacts) -> None:
    assert "mean steps" not in str(fidelity_table(artefacts, DA))
    assert cells(str(fidelity_table(artefacts, AA)), "no ponder cost")[5] == "9.25"


def test_settings_and_sameness(artefacts: Artefacts) -> None:
    found = by_name(artefacts, DA)
    assert found["corrected"].settings == ()
    assert found["converged"].settings == ("max_epochs", "patience")
    assert [v.name for v in found.values() if v.same] == ["raw vectors"]


def test_one_seed_has_no_spread(folder: Path, edit: Edit) -> None:
    one = {"seeds": "1", "dev_accuracy_sd": "", "test_accuracy_sd": ""}
    edit("fidelity/variants.csv", lambda row: row | one)
    edit("fidelity/timings.csv", lambda row: row if row["seed"] == "1" else None)
    assert "±" not in str(fidelity_table(load(folder), DA))


def test_nothing_without_the_study(folder: Path, edit: Edit) -> None:
    for file in ("variants", "timings"):
        edit(f"fidelity/{file}.csv", lambda row: None)
    assert fidelity_models(load(folder)) == ()
    assert len(fidelity_csv(load(folder)).splitlines()) == 1


def test_csv_has_the_same_figures(artefacts: Artefacts) -> None:
    rows = list(csv.DictReader(io.StringIO(fidelity_csv(artefacts))))
    assert len(rows) == 12 + 5
    assert (rows[1]["variant"], rows[1]["difference"]) == ("scrambled", "-0.025")
    assert (rows[1]["share_of_gap"], rows[0]["share_of_gap"]) == ("0.625", "")
    assert (rows[0]["test_mean_steps"], rows[12]["test_mean_steps"]) == ("", "4.5")
