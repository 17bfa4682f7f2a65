"""Where the models come from, in words."""

from dataclasses import replace

import pytest

from reports.blocks import as_markdown
from reports.stored.artefacts import Artefacts
from reports.tables.timings import duration, provenance_table, timings


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
