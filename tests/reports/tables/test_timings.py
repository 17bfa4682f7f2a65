from collections.abc import Callable
from pathlib import Path

from reports.blocks import as_markdown
from reports.stored.artefacts import Artefacts, load
from reports.tables.timings import timings
from tests.reports.conftest import GRAVES, Edit


def test_medians_and_totals_by_hand(artefacts: Artefacts) -> None:
    text = as_markdown(timings(artefacts))
    # three trials of five epochs of 1 s, at 1001 to 1005 examples/s
    assert "| retrain | Decomposable Attention | 3 | 15 | 1,003 | 15.0 |" in text
    assert "| sweep | Adaptive Attention | 4 | 12 | 500 | 24.0 |" in text


def test_the_studies_by_hand(artefacts: Artefacts) -> None:
    text = as_markdown(timings(artefacts))
    # 61.5 + 62.5 + 63.5 s for three seeds of 15 epochs; three runs of 30 s
    assert "| fidelity | Decomposable Attention | scrambled | 3 | 45 | 187.5 |" in text
    assert "| halting | fixed steps | steps 3 | 3 | 18 | 90.0 |" in text
    # three seeds of 4 epochs in 20 s each
    assert "| graves | Parity | ponder weight 0.001 | 3 | 12 | 60.0 |" in text
    # three seeds of 4 epochs in 40 s each
    assert "| nse | Named entities | query gating, 6 steps | 3 | 12 | 120.0 |" in text


def test_no_study_was_run(folder: Path, edit: Edit, no_nse: Callable[[], None]) -> None:
    no_nse()
    studies = ("fidelity/variants", "fidelity/timings", "halting/points", "halting/timings")
    for file in (*studies, *GRAVES):
        edit(f"{file}.csv", lambda row: None)
    assert "Studies" not in as_markdown(timings(load(folder)))
