"""One line at the start of each stage of `make repro`: its number, and the time left.

The time is that of the slowest earlier run with the same parameters, or the demo's in DEMO. It
depends on all parameters, so that there is none for others.
"""

import hashlib
import json
import math
import os
import time
from contextlib import suppress
from pathlib import Path
from pprint import saferepr  # sorts keys, also of several types
from typing import Any

from actmodels.files import write_text
from pipeline.runtime.inputs import PARAMS, stage_names, yaml_tree
from pipeline.runtime.stage import state_folder

SINCE = "ACT_NLI_SINCE"  # start of `make repro`, in Unix time; other commands run only some stages
DEMO = Path(__file__).parents[2] / "reports" / "published" / "demo_seconds.json"
CORRUPT = (ValueError, LookupError, TypeError)


def digest_of_all_parameters() -> str:
    """Return SHA-256 of all parameters."""
    return hashlib.sha256(saferepr(yaml_tree(PARAMS)).encode()).hexdigest()[:16]


def begin(name: str = "") -> str:
    """Note that a stage begins, or that the last one has ended; return the line of the stage.

    Empty for other commands than `make repro`.
    """
    if SINCE not in os.environ:
        return ""
    names, own = stage_names(), _noted(name)
    if name not in names:
        return ""
    number = names.index(name)
    line, left = f"stage {number + 1} of {len(names)}", {*names[number:]}
    demo = json.loads(DEMO.read_text(encoding="utf-8"))
    for times, basis in ((own, "as in earlier runs"), (demo, f"as on {demo['machine']}")):
        parts = {part: {*part.split()} for part in times["seconds"]}  # a stage, or several
        if times["parameters"] == own["parameters"] and left <= set[str]().union(*parts.values()):
            seconds = sum(times["seconds"][part] for part, of in parts.items() if of & left)
            minutes = math.ceil(seconds / 60)
            return f"{line}, up to {minutes} minute{'s' * (minutes != 1)} left, {basis}"
    return line


def _noted(name: str) -> dict[str, Any]:
    """Add the seconds of the stage before, until this one begins; return the times of stages."""
    path, now, since = state_folder() / "stage_seconds.json", time.time(), os.environ[SINCE]
    seconds, parameters = dict[str, float](), digest_of_all_parameters()
    with suppress(OSError, *CORRUPT):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["parameters"] == parameters:
            seconds = kept["seconds"]
            if kept["since"] == since and (before := kept["running"]):
                seconds[before] = max(seconds.get(before, 0.0), now - kept["began"])
    times = {"parameters": parameters, "seconds": seconds}
    with suppress(OSError):  # such as a full disk, which the stage reports
        write_text(path, json.dumps(times | {"since": since, "running": name, "began": now}))
    return times
