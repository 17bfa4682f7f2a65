"""Fixtures of studies: a project folder, and the selected trials of two models."""

import json
from pathlib import Path

import pytest

from actmodels.files import write_text
from tests.pipeline.conftest import folder, impatient
from tests.samples import MODELS, sample_trial

__all__ = ["folder", "impatient"]


@pytest.fixture
def winners(folder: Path) -> None:
    """Write a project with two selected trials."""
    best = {name: {"config": sample_trial(name, dropout=0.3).as_dict()} for name in MODELS}
    write_text(folder / "artifacts" / "select_best" / "best.json", json.dumps(best))
