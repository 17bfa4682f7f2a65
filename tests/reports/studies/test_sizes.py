from dataclasses import replace
from pathlib import Path

import pytest

from reports.charts.sizes import by_size
from reports.stored.artefacts import Artefacts, load
from reports.studies.sizes import laws_table, sizes_sentences, sizes_table
from tests.reports.conftest import Edit

DA, AA = "decomposable_attention", "adaptive_attention"
FORETOLD = "Decomposable Attention, of all sizes: 89.0 (85.0 to 92.0) % at 549,367 pairs"


def on_snli(artefacts: Artefacts) -> Artefacts:
    return replace(artefacts, corpus=artefacts.corpus | {"source": "snli"})


def test_rows_by_hand(artefacts: Artefacts) -> None:
    found = sizes_table(artefacts).rows
    da = ["Decomposable Attention", "800", "3", "5", "74.0 ± 1.00", "72.0 ± 1.20", "0 of 3", "yes"]
    assert found[4] == da
    assert found[5][-1] == "no"  # of 62 % errors
    assert found[8][-2:] == ["1 of 3", "yes"]


def test_what_is_foretold_stands_beside_what_is_known(artefacts: Artefacts) -> None:
    whole, without, wide = laws_table(artefacts, published=True).rows
    assert whole[1:] == ["5 sizes", "0.100 + 8.2 · n^−0.60", "549,367", "89.0 (85.0 to 92.0)", "–"]  # noqa: RUF001
    assert without[1] == "all but the largest"
    assert without[3:] == ["800", "71.0 (69.0 to 73.0)", "72.0 ± 1.20"]
    assert wide[4] == "93.0 (81.0 to 97.0); not usable"


def test_published_figures_stand_beside_snli_alone(artefacts: Artefacts) -> None:
    snli = on_snli(artefacts)
    assert laws_table(snli, published=True).rows[0][-1] == "86.3 / 83.8"
    assert laws_table(snli, published=True).rows[2][-1] == "82.7"
    assert laws_table(snli, published=False).rows[0][-1] == "–"  # noqa: RUF001
    said = sizes_sentences(snli, published=True)
    assert f"{FORETOLD}; published 86.3 (Parikh et al. 2016, as in Neumann" in said
    assert f"{FORETOLD}." in sizes_sentences(artefacts, published=True)
    assert "crosses: published" in str(by_size(snli, True).spec)
    assert "published" not in str(by_size(artefacts, True).spec)


def test_words_by_hand(artefacts: Artefacts) -> None:
    text = sizes_sentences(artefacts, published=True)
    held = "71.0 (69.0 to 73.0) % at 800 pairs; measured 72.0 ± 1.20, within the interval."
    assert f"Decomposable Attention, without its largest size: {held}" in text
    assert "Adaptive Attention: 1 run ended while dev accuracy still rose" in text
    assert "says nothing at 549,367 pairs (its interval is 16 points wide)" in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"low": "0.725", "without_largest": "True", "pairs": "800"}, "outside the interval"),
        ({"bounded": "True"}, "(its exponent is at an end of what is tried)"),
    ],
)
def test_what_fails_is_said(folder: Path, edit: Edit, change: dict[str, str], said: str) -> None:
    edit("sizes/laws.csv", lambda row: row | change)
    assert said in sizes_sentences(load(folder), published=True)


def test_too_few_sizes(folder: Path, edit: Edit) -> None:
    edit("sizes/laws.csv", lambda _: None)
    edit("sizes/curves.csv", lambda _: None)
    found = load(folder)
    assert "too few sizes to fit a law to" in sizes_sentences(found, published=True)
    assert "foretold" not in by_size(found, True).alternative
