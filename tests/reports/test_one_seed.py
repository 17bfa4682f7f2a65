"""A run with one seed each: no figure over seeds has a spread, and nothing is called clear."""

import pytest

from reports.blocks import Block, Chart, Figure, Table, as_markdown
from reports.metrics import metrics
from reports.report import report
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts
from reports.studies.nse.runs import nse_runs
from reports.summary import summary
from tests.reports.charts.reading import by_name, marks, pick, rows
from tests.reports.conftest import GATED, ONE

AA = "adaptive_attention"
# Figures over the trials of the sweep, of which there are several.
OF_TRIALS = ("ponder_", "slices_", "steps_by_epoch_")


@pytest.fixture(scope="module")
def blocks(one_seed: Artefacts) -> list[Block]:
    return report(one_seed, published=True)


@pytest.fixture(scope="module")
def drawn(blocks: list[Block]) -> dict[str, Figure]:
    return by_name(blocks)


def test_no_table_and_no_alternative_has_a_spread(one_seed: Artefacts, blocks: list[Block]) -> None:
    for block in blocks:
        if isinstance(block, Table) and block.header[0] != "setting":
            assert "±" not in str(block)
        if isinstance(block, Chart) and not block.name.startswith(OF_TRIALS):
            assert "±" not in block.figure.alternative.replace("mean ± sd", "")
    assert not [name for name in metrics(one_seed) if name.endswith("_sd")]
    assert all(run.difference.p is None for run in nse_runs(one_seed, "NE"))


@pytest.mark.parametrize(
    "said",
    [
        "**83.0**",
        "Figures: n = 1, no spread.",
        "(6.00) and fewest on entailments (3.00): not a clear difference",
        "do not clearly go with more or fewer right answers (+36.00 points)",
        "for these trainings alone, so nothing is called clear",
        "no spread for at least one of the two; not a clear",
        f"not clearly less ({MINUS}36.00 points, n = 1, no spread)",
        "do not clearly follow the entries that are not 0: +0.50 steps for each entry",
        f"not clearly fewer ({MINUS}0.10 bits, n = 1, no spread)",
        "not clearly more on a space (+0.50)",
        f"*{GATED}* is not clearly above *{ONE}*: +3.00 points",
        "to +4.80; one seed, no spread.",
    ],
)
def test_nothing_is_clear(blocks: list[Block], said: str) -> None:
    text = as_markdown(blocks)
    assert said in text
    assert text.count("one seed each, so no spread") == 5


def test_the_first_screen(one_seed: Artefacts) -> None:
    text = summary(one_seed)
    assert "±" not in text
    assert "83.0 % for Adaptive Attention" in text
    assert "trained anew with 1 seed, so there is no spread." in text
    assert "not clearly above" in text and "clear difference" in text
    assert "a clear difference" not in text.replace("not a clear difference", "")


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("ablation", ["rule", "line", "point"]),
        (f"learning_curves_{AA}", ["line", "point", "point"]),
        (f"steps_{AA}", ["rect"]),
        ("graves_curves_parity", ["line", "point"]),
        ("nse_curves_NE", ["line", "point"]),
    ],
)
def test_no_figure_has_a_band(drawn: dict[str, Figure], name: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in marks(drawn[name].spec)] == kinds
    assert all(row["low"] == row["high"] for row in rows(drawn[name], "low"))


def test_what_figures_say(drawn: dict[str, Figure]) -> None:
    assert drawn["ablation"].spec["title"]["subtitle"] == ["1 seed"]
    capped = pick(rows(drawn["ablation"], "k"), series="halting capped at k steps", k="2")
    assert capped["accuracy"] == "76.1"
    assert "(1 seed): 2 to 6 steps, most often 4 (50.0 %); mean 4.00" in (
        drawn[f"steps_{AA}"].alternative
    )
    curves = drawn[f"learning_curves_{AA}"].alternative
    assert "Attention, 1 seed. " in curves and "in the last epoch: 94.0 %." in curves
    assert drawn["halting"].spec["title"]["subtitle"] == ["1 seed"]
    row = pick(rows(drawn["halting"], "setting"), setting="steps 3")
    assert row["share"] == "73.9 %" and row["x_low"] == row["x_high"] == 3.0
