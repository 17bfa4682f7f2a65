"""Observe trials in their workers: test code around the trainable."""

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
import pytest
from ray import cloudpickle

from tune import trainable

Observe = Callable[[], dict[str, Any]]


def resident_memory() -> float:
    return float(psutil.Process().memory_info().rss / 2**20)


def watched(config: dict[str, Any], *, observe: Observe, notes: Path, **settings: Any) -> None:
    """Run a fusion, and append a line to the notes at each of its reports, in its thread."""
    before, report = resident_memory(), trainable.report

    def noted(*content: Any, **more: Any) -> None:
        note = {"before": before, "after": resident_memory()} | observe()
        with notes.open("a") as file:
            file.write(json.dumps(note) + "\n")
        report(*content, **more)

    with patch.object(trainable, "report", noted):
        trainable.run_fusion(config, **settings)


def watch(monkeypatch: pytest.MonkeyPatch, notes: Path, observe: Observe = dict) -> None:
    """Watch all fusions; `observe` returns additional notes at each report."""
    for module in (__name__, observe.__module__):
        if module != "builtins":  # workers do not have this folder
            cloudpickle.register_pickle_by_value(sys.modules[module])
    monkeypatch.setattr(
        "tune.runner.run_fusion", functools.partial(watched, observe=observe, notes=notes)
    )


def read_notes(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
