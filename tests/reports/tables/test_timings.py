from dataclasses import replace

import pytest

from reports.blocks import as_markdown
from reports.stored.artefacts import Artefacts
from reports.tables.timings import duration, provenance_table, timings


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
    assert "| graves | Parity | ACT, ponder weight 0.001 | 3 | 12 | 60.0 |" in text
    # 10 and 20 s for two seeds of 3 epochs
    assert "| multihop | Hop Attention | ponder_weight 0.001 | 2 | 6 | 30.0 |" in text
    # three seeds of 4 epochs in 40 s each
    assert "| nse | Named entities | query gating, 6 steps | 3 | 12 | 120.0 |" in text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (8.44, "8.4 s"),
        (59.96, "60.0 s"),
        (60, "1 min 0 s"),
        (725.4, "12 min 5 s"),
        (3599.6, "1 h 0 min"),
        (12_000, "3 h 20 min"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_both_stages_have_a_column(artefacts: Artefacts) -> None:
    lines = str(provenance_table(artefacts)).splitlines()
    assert lines[0] == "|  | sweep | retrain |"
    assert "| commit | `89abcdef` | `89abcdef` |" in lines
    assert "| processor | Invented CPU, 2 cores | Invented CPU, 2 cores |" in lines
    assert "| GPU | none | none |" in lines
    assert "| of them reused | 2 | 0 |" in lines
    assert "| wall time | 12 min 5 s | 3 h 20 min |" in lines
    assert "\n".join(lines) in as_markdown(timings(artefacts))


def test_a_gpu_is_named_and_unknown_memory_is_said_to_be(artefacts: Artefacts) -> None:
    machine = artefacts.sweep_environment["machine"] | {"gpu": "Device 9", "memory_gib": None}
    environment = artefacts.sweep_environment | {"machine": machine}
    table = str(provenance_table(replace(artefacts, sweep_environment=environment)))
    assert "| GPU | Device 9 | none |" in table
    assert "| memory | unknown | 23.5 GiB |" in table
