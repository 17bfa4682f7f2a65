"""YAML files as text, and their values, neither of which may be endless."""

from pathlib import Path
from typing import Any

from actmodels.files import regular

# no line breaks of YAML 1.2, but of the libraries that read it
SPACES = str.maketrans("\x85\u2028\u2029", "   ")
MOST_VALUES = 100_000  # ours; params.yaml has some 400, dvc.lock 2,000


def text_of(path: Path) -> str:
    """The text of a file; OSError also of what is none, such as a pipe that nobody writes to."""
    return regular(path).read_text(encoding="utf-8").translate(SPACES)


def endless(tree: Any) -> bool:
    """Whether YAML is a mass of values, as it is where an alias holds others, or itself."""
    waiting = [tree]
    for _ in range(MOST_VALUES):
        if not waiting:
            return False
        node = waiting.pop()
        waiting.extend(node.values() if isinstance(node, dict) else ())
        waiting.extend(node if isinstance(node, list) else ())
    return True
