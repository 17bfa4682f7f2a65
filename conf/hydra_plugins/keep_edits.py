"""Loaded by DVC before it composes params.yaml from conf/.

Refuse to discard an edit, typos, and values that are not valid, before the file is written.
"""

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))
from actmodels.errors import ConfigError  # noqa: E402
from pipeline.parameters import edits  # noqa: E402
from pipeline.parameters.compose import checked_params  # noqa: E402
from pipeline.parameters.watching import watched  # noqa: E402

SWITCH = ("-S", "--set-param")
switches = [value for option, value in pairwise(sys.argv) if option in SWITCH]
if problems := edits.unknown_switches(ROOT / "conf", switches):
    sys.exit("\n".join(f"error: -S {problem}" for problem in problems))
if problem := edits.problem(ROOT):
    sys.exit(f"error: {problem}")
to_yaml = OmegaConf.to_yaml


def recorded(config: Any, **options: Any) -> str:
    """Return the text that DVC writes, and record it."""
    config.watch = watched(config)
    text = to_yaml(config, **options)
    try:
        checked_params(text, switches)
    except ConfigError as error:
        sys.exit(f"error: {error}")
    return edits.record(ROOT, text)


OmegaConf.to_yaml = staticmethod(recorded)
