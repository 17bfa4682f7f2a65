"""The command that changes params.yaml, for messages."""

import json
import shlex
from collections.abc import Mapping
from typing import Any


def use_command(values: Mapping[str, Any]) -> str:
    """Return the command that sets keys of params.yaml, to be pasted into a shell."""
    words = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return shlex.join(["act-nli", "use", *words])
