"""Print the settings of all halting mechanisms as a Markdown table: python -m actmodels.halting."""

import sys
from dataclasses import fields
from typing import get_type_hints

from actmodels.registry import HALTINGS
from actmodels.validators import wording_of


def settings_table() -> str:
    """Return a row per setting: default, meaning, range, and the mechanisms that read it."""
    readers: dict[tuple[str, str, str, str], list[str]] = {}
    for mechanism in HALTINGS.values():
        hints = get_type_hints(mechanism.settings, include_extras=True)
        for one in fields(mechanism.settings):
            text, wording = one.metadata["text"], wording_of(hints[one.name])
            row = (f"`{one.name}`", f"{one.default:g}", text, wording)
            readers.setdefault(row, []).append(mechanism.settings.__name__.removesuffix("Config"))
    lines = [("setting", "default", "meaning", "range", "mechanisms"), ("---",) * 5]
    lines += [(*row, ", ".join(names)) for row, names in readers.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(settings_table() + "\n")
