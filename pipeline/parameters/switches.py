"""Switches of `dvc exp run` for messages, to be pasted into a shell."""

import json
import re
import shlex
from typing import Any

WORDS = ("true", "false", "null", "inf")  # of Hydra, unless they are in quotes


def switch(change: str) -> str:
    """Return a switch of `dvc exp run`, to be pasted into a shell."""
    return f"-S {shlex.quote(change)}"


def quoted(name: str) -> str:
    """Return a text as a value of Hydra; a plain word needs no quotes."""
    if re.fullmatch(r"[A-Za-z_]\w*|-", name, re.ASCII) and name.lower() not in WORDS:
        return name
    # a backslash escapes only a quotation mark, or another before one
    return '"' + re.sub(r'(\\*)"', r'\1\1\\"', re.sub(r"(\\+)$", r"\1\1", name)) + '"'


def value_text(value: Any) -> str:
    """Return a value of params.yaml as Hydra reads it."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{','.join(map(value_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {value_text(v)}' for name, v in value.items())}}}"
    return json.dumps(value)
