"""Read YAML as text, and bound the number of its values."""

from pathlib import Path
from typing import Any

from actmodels.files import regular

# not line breaks in YAML 1.2, but the libraries that read it take them as such
SPACES = str.maketrans("\x85\u2028\u2029", "   ")
MAX_VALUES = 100_000  # ours; params.yaml has about 400, dvc.lock 2,000


def read_yaml_text(path: Path) -> str:
    """Return the text of a file; raise OSError also for a pipe or a device, which could block."""
    return regular(path).read_text(encoding="utf-8").translate(SPACES)


def is_endless(tree: Any) -> bool:
    """Return whether a YAML tree has too many values, as with an alias that contains itself."""
    pending = [tree]
    for _ in range(MAX_VALUES):
        if not pending:
            return False
        node = pending.pop()
        if isinstance(node, dict | list):
            pending.extend(node.values() if isinstance(node, dict) else node)
    return True
