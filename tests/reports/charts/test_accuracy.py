from dataclasses import replace

import pytest

from reports.charts.accuracy import by_fixed_steps, by_steps
from reports.published import SNLI_TRAIN
from reports.stored.artefacts import Artefacts
from tests.reports.charts.reading import axes, by_name, legend, marks, pick, rows

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


def test_accuracy_by_fifths(artefacts: Artefacts) -> None:
    figure = by_name(by_steps(artefacts, [AA]))["step_accuracy"]
    # among the fewest 0.60, 0.56, 0.52; among the most 0.96, 0.92, 1
    assert [row["x"] for row in rows(figure, "at")] == [1, 2, 3, 4, 5]
    assert pick(rows(figure, "at"), at="1")["shown"] == "56.0 ± 4.00 %"
