from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.registry import deviations
from reports.blocks import DASH
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.studies.fidelity import (
    Variant,
    fidelity_sentences,
    fidelity_table,
    variants,
)
from tests.reports.conftest import Edit, Row

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
    edit("fidelity/variants.csv", lambda r: None if r["variant"] == "as published" else r)
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
    assert cells(table, "small normal start")[-2:] == ["0.009", DASH]


def test_steps_only_of_a_model_that_takes_some(artefacts: Artefacts) -> None:
    assert "mean steps" not in str(fidelity_table(artefacts, DA))
    assert cells(str(fidelity_table(artefacts, AA)), "no ponder cost")[5] == "9.25"


def test_settings_and_sameness(artefacts: Artefacts) -> None:
    found = by_name(artefacts, DA)
    assert found["corrected"].settings == ()
    assert found["converged"].settings == ("max_epochs", "patience")
    assert [v.name for v in found.values() if v.same] == ["raw vectors"]


SetVariant = Callable[..., None]


@pytest.fixture
def set_variant(edit: Edit) -> SetVariant:
    """Change cells of the variants of one name."""

    def set_variant(variant: str, **cells: str) -> None:
        def of(row: Row) -> Row:
            return row | cells if row["variant"] == variant else row

        edit("fidelity/variants.csv", of)

    return set_variant


def test_deviations_that_gain(folder: Path, set_variant: SetVariant) -> None:
    set_variant("as published", difference="0.02", low="0.01", high="0.03")
    text = fidelity_sentences(load(folder), DA)
    assert "(*as published*) clearly gain accuracy: +2.00 (+1.00 to +3.00) points. Of" in text


def test_a_loss_that_no_single_deviation_has(folder: Path, set_variant: SetVariant) -> None:
    set_variant("scrambled", high="0.001", p="0.06")
    assert "No single one of them clearly does." in fidelity_sentences(load(folder), DA)


def test_a_reference_alone(folder: Path, edit: Edit) -> None:
    edit("fidelity/variants.csv", lambda r: r if r["variant"] == "corrected" else None)
    text = fidelity_sentences(load(folder), DA)
    assert text == "Decomposable Attention, *corrected*, has 81.0 ± 1.10 % on test."


def test_deviations_are_those_of_the_twin() -> None:
    assert "scrambled_alignment" in deviations(DA) and "batch_remainder" not in deviations(DA)
    assert "batch_remainder" in deviations(AA)
    assert deviations("lstm_encoders") == set()
