from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.registry import deviations
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.studies.fidelity import fidelity_note, fidelity_sentences
from tests.reports.conftest import Edit, Row

DA, AA = "decomposable_attention", "adaptive_attention"


SetVariant = Callable[..., None]


@pytest.fixture
def set_variant(edit: Edit) -> SetVariant:
    """Change cells of the variants of one name."""

    def set_variant(variant: str, **cells: str) -> None:
        def of(row: Row) -> Row:
            return row | cells if row["variant"] == variant else row

        edit("fidelity/variants.csv", of)

    return set_variant


def test_what_costs_clearly_and_what_does_not(artefacts: Artefacts) -> None:
    text = fidelity_sentences(artefacts, DA)
    assert "Decomposable Attention, *corrected*, has 81.0 ± 1.10 % on test." in text
    assert (
        f"All deviations together (*as published*) clearly cost accuracy: {MINUS}4.00 ({MINUS}5.20 "
        f"to {MINUS}2.70) points. Alone, the costliest, *scrambled*, makes 62 % of that."
    ) in text
    own, others = text.split("Of the deviations of the 2016 code,")[1].split("Of other choices,")
    assert f"*scrambled and unmasked* {MINUS}3.10 ({MINUS}4.10 to {MINUS}2.00) clearly cost" in own
    assert "*dropped batches* +0.10 (" in own and "make no clear difference" in own
    assert "*small normal start*" in others and "*small normal start*" not in own
    assert "*converged* +2.20 (+1.20 to +3.10) clearly gains accuracy" in others
    assert "*raw vectors* changes nothing at all" in others


def test_deviations_that_cost_nothing_clearly(artefacts: Artefacts) -> None:
    text = fidelity_sentences(artefacts, AA)
    assert "All deviations together (*as published*) do not clearly cost accuracy" in text
    assert "clearly cost accuracy;" not in text and "Of other choices" not in text
    assert "costliest" not in text


def test_deviations_that_gain(folder: Path, set_variant: SetVariant) -> None:
    set_variant("as published", difference="0.02", low="0.01", high="0.03")
    text = fidelity_sentences(load(folder), DA)
    assert "(*as published*) clearly gain accuracy: +2.00 (+1.00 to +3.00) points. Of" in text


def test_a_loss_that_no_single_deviation_has(folder: Path, set_variant: SetVariant) -> None:
    set_variant("scrambled", high="0.001")
    assert "No single one of them clearly does." in fidelity_sentences(load(folder), DA)


def test_a_reference_alone(folder: Path, edit: Edit) -> None:
    for file in ("variants", "timings"):
        edit(f"fidelity/{file}.csv", lambda r: r if r["variant"] == "corrected" else None)
    text = fidelity_sentences(load(folder), DA)
    assert text == "Decomposable Attention, *corrected*, has 81.0 ± 1.10 % on test."


def test_the_note_says_what_the_interval_is(artefacts: Artefacts) -> None:
    note = fidelity_note(artefacts, published=False)
    said = "over seeds and test pairs (n = 3 seeds: over few it is rather too narrow)"
    assert f"paired bootstrap {said}" in note
    assert "both scored (96 to 100)" in note
    assert "comparisons (15 here)" in note
    assert "83.8" not in note and "arXiv" not in note


def test_the_published_gap_stands_beside_it(artefacts: Artefacts) -> None:
    note = fidelity_note(artefacts, published=True)
    assert "has 83.8 % and that of Parikh et al. 86.3 % (Neumann et al. 2016, table 1)" in note
    assert "2.5 points that the paper does not explain" in note
    assert "those on generated captions, 800 pairs" in note


def test_one_seed_is_said_to_be_one(folder: Path, edit: Edit) -> None:
    edit("fidelity/variants.csv", lambda row: row | {"seeds": "1"})
    edit("fidelity/timings.csv", lambda row: row if row["seed"] == "1" else None)
    note = fidelity_note(load(folder), published=False)
    assert "(n = 1 seed: it holds for these trainings alone, so nothing is called clear)" in note


def test_deviations_are_those_of_the_twin() -> None:
    assert "scrambled_alignment" in deviations(DA) and "batch_remainder" not in deviations(DA)
    assert "batch_remainder" in deviations(AA)
    assert deviations("lstm_encoders") == set()
