from reports.artefacts import Artefacts
from reports.timings import timings


def test_medians_and_totals_by_hand(artefacts: Artefacts) -> None:
    text = timings(artefacts)
    # three trials of five epochs of 1 s, at 1001 to 1005 examples/s
    assert "| retrain | Decomposable Attention | 3 | 15 | 1,003 | 15.0 |" in text
    assert "| sweep | Adaptive Attention | 4 | 12 | 500 | 24.0 |" in text
