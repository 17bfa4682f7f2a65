"""Loaded by DVC before it composes conf/: a switch with a former name ends with the new one.

Hydra itself would only report that the key is not in the configuration (hydra.plugins_path).
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
from pipeline.parameters.renamed import FORMER_NAMES

STUDIES = {"graves": "sequences", "nse": "cloze"}  # and theirs, such as nse_cbt
FREE = ("fidelity.models.", "texts.sources.")  # names that the user chooses


def problem(switch: str) -> str | None:
    """Return the message for KEY=VALUE with a former name; None if there is none."""
    key, _, value = switch.removeprefix("--set-param=").lstrip("+~").partition("=")
    if key == "study" and (former := value.partition("_")[0]) in STUDIES:
        return f"study={value} is now study={value.replace(former, STUDIES[former])}"
    for part in key.split(".") if not key.startswith(FREE) else ():
        if new := [name for name, former in FORMER_NAMES.items() if former == part]:
            return f"-S {key}: {part} is now {' or '.join(new)}; rename it"
    return None


if messages := [message for switch in sys.argv if "=" in switch and (message := problem(switch))]:
    sys.exit("\n".join(f"error: {message}" for message in messages))
