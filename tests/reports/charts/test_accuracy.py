from dataclasses import replace
from pathlib import Path

import pytest

from reports.charts.accuracy import (
    by_depth,
    by_fixed_steps,
    by_steps,
    stepping_models,
    steps_by_depth,
)
from reports.published import SNLI_TRAIN
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import axes, by_name, legend, marks, pick, rows
from tests.reports.conftest import Edit

STATE, CAPPED = "state after k steps", "halting capped at k steps"


@pytest.fixture(scope="module")
def snli(artefacts: Artefacts) -> Artefacts:
    """As if it were a run on all of SNLI."""
    pairs = {"train": SNLI_TRAIN, "dev": 9_842, "test": 9_824}
    corpus = artefacts.corpus | {"source": "snli"}
    return replace(artefacts, corpus=corpus, tensors=artefacts.tensors | {"pairs": pairs})


def test_both_readings_and_the_adaptive_mean(artefacts: Artefacts) -> None:
    figure = by_fixed_steps(artefacts, published=True)
    found = rows(figure, "k")
    for reading in (STATE, CAPPED):
        assert [row["x"] for row in found if row["series"] == reading] == list(range(1, 21))
    # dev.csv of seeds 1 to 3 at k = 2, halting capped: 0.7609, 0.7409, 0.7809
    two = pick(found, series=CAPPED, k="2")
    assert (two["y"], two["low"], two["high"]) == (76.09, 74.09, 78.09)
    assert (two["accuracy"], two["steps"], two["n"]) == ("76.1 ± 2.00", "2.00 ± 0.00", "3")
    adaptive = pick(found, series="adaptive halting")
    assert (adaptive["y"], adaptive["low"], adaptive["high"]) == (84.0, 82.0, 86.0)
    assert (adaptive["accuracy"], adaptive["steps"]) == ("84.0 ± 2.00", "4.50 ± 0.50")
    assert axes(figure) == {"x": "inference steps k", "y": "dev accuracy (%)"}
    assert legend(figure) == [STATE, CAPPED, "adaptive halting"]
    kinds = [kind for kind, _ in marks(figure.spec)]
    assert kinds == ["rect", "rule", "area", "line", "point"]


def test_the_paper_beside_it_on_its_own_corpus(snli: Artefacts) -> None:
    figure = by_fixed_steps(snli, published=True)
    paper = [row for row in rows(figure, "k") if row["series"] == "paper, SNLI test"]
    assert [(row["x"], row["y"]) for row in paper] == [(2, 76.2), (4, 81.7), (5, 82.7), (8, 81.0)]
    assert paper[2]["k"] == "adaptive, 5 on average"
    assert "paper, SNLI test" in legend(figure)
    assert "paper, SNLI test" not in legend(by_fixed_steps(snli, published=False))


AA = "adaptive_attention"


def test_accuracy_by_depth_with_its_band(artefacts: Artefacts) -> None:
    figure = by_depth(artefacts)
    assert legend(figure) == ["Decomposable Attention", "Adaptive Attention"]
    # depth 2 of seeds 1 to 3 of AA: 0.83, 0.80, 0.83; mean 0.82, sd sqrt(0.0003) = 0.01732
    row = pick(rows(figure, "depth"), series="Adaptive Attention", depth="2")
    assert (row["y"], row["low"], row["high"]) == (82.0, 80.268, 83.732)
    assert (row["value"], row["n"], row["pairs"]) == ("82.0 ± 1.73 %", "3", "30")
    assert axes(figure) == {"x": "recorded depth", "y": "test accuracy (%)"}


def test_steps_only_of_models_that_take_any(artefacts: Artefacts) -> None:
    figure = steps_by_depth(artefacts)
    assert legend(figure) == ["Adaptive Attention"]
    # steps at depth 3 are one above those at depth 1: 4.5, 5.5 and 5 for seeds 1 to 3
    row = pick(rows(figure, "depth"), depth="3")
    assert (row["y"], row["low"], row["high"], row["value"]) == (5.0, 4.5, 5.5, "5.00 ± 0.50")


def test_of_many_models_the_featured(many: Artefacts) -> None:
    names = ["Decomposable Attention", "Adaptive Attention", "Adaptive Attention, PonderNet"]
    assert legend(by_depth(many)) == names


def test_one_depth_is_told_once(folder: Path, edit: Edit) -> None:
    edit("evaluate/depth.csv", lambda row: row if row["depth"] == "2" else None)
    said = steps_by_depth(load(folder)).alternative
    assert said.endswith(": Adaptive Attention 4.50 ± 0.50 at depth 2.")


def test_no_model_steps_where_none_is_recorded(folder: Path, edit: Edit) -> None:
    edit("evaluate/depth.csv", lambda row: row | {"mean_steps": ""})
    assert stepping_models(load(folder)) == []


def test_accuracy_by_fifths(artefacts: Artefacts) -> None:
    figure = by_name(by_steps(artefacts, [AA]))["step_accuracy"]
    # among the fewest 0.60, 0.56, 0.52; among the most 0.96, 0.92, 1
    assert [row["x"] for row in rows(figure, "at")] == [1, 2, 3, 4, 5]
    assert pick(rows(figure, "at"), at="1")["shown"] == "56.0 ± 4.00 %"
