"""Looking at a sweep's trials where they run: tests' own code around what Ray calls."""

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

Look = Callable[[], dict[str, Any]]


def resident_memory() -> float:
    return float(psutil.Process().memory_info().rss / 2**20)


def watched(config: dict[str, Any], *, look: Look, notes: Path, **settings: Any) -> None:
    """Run a fusion, and append a line to the notes whenever it reports, in its own thread."""
    before, report = resident_memory(), trainable.report

    def noted(*said: Any, **more: Any) -> None:
        note = {"before": before, "after": resident_memory()} | look()
        with notes.open("a") as file:
            file.write(json.dumps(note) + "\n")
        report(*said, **more)

    with patch.object(trainable, "report", noted):
        trainable.run_fusion(config, **settings)


def watch(monkeypatch: pytest.MonkeyPatch, notes: Path, look: Look = dict) -> None:
    """Have all fusions watched; `look` says what else is to be noted at each report."""
    for module in (__name__, look.__module__):
        if module != "builtins":  # workers do not see this folder
            cloudpickle.register_pickle_by_value(sys.modules[module])
    monkeypatch.setattr(
        "tune.runner.run_fusion", functools.partial(watched, look=look, notes=notes)
    )


def read_notes(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
