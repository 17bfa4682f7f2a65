"""Loaded by DVC before it composes params.yaml from conf/: refuse to discard an edit, and typos."""

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))
from pipeline.parameters import edits  # noqa: E402

SWITCH = ("-S", "--set-param")
switches = [value for option, value in pairwise(sys.argv) if option in SWITCH]
if problems := edits.unknown_switches(ROOT / "conf", switches):
    sys.exit("\n".join(f"error: -S {problem}" for problem in problems))
if problem := edits.problem(ROOT):
    sys.exit(f"error: {problem}")
to_yaml = OmegaConf.to_yaml


def recorded(config: Any, **options: Any) -> str:
    """Return the text that DVC writes, and record it."""
    return edits.record(ROOT, to_yaml(config, **options))


OmegaConf.to_yaml = staticmethod(recorded)
