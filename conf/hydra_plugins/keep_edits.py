"""Loaded by DVC before it composes params.yaml from conf/: refuse if that would discard an edit."""

import sys
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))
from pipeline.parameters import edits  # noqa: E402

if problem := edits.problem(ROOT):
    sys.exit(f"error: {problem}")
to_yaml = OmegaConf.to_yaml


def recorded(config: Any, **options: Any) -> str:
    """Return the text that DVC writes, and record it."""
    return edits.record(ROOT, to_yaml(config, **options))


OmegaConf.to_yaml = staticmethod(recorded)
