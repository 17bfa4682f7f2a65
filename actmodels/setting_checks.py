"""Whether a value can be a setting: its type, its choices, its range. Imports no torch."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

Part = TypeVar("Part")
Ranges = Mapping[str, tuple[Callable[[Any], bool], str]]
NUMBERS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def value_problem(hint: Any, name: str, value: object, ranges: Ranges) -> str | None:
    """Why `value` cannot be a setting, such as "is 0; must be at least 1"; None if it can.

    Args:
        hint: the setting's type; one that is neither a choice nor a number is not looked at.
        ranges: name of a setting -> whether a value is in its range, and how to say the range.
    """
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        return None if value in choices else f"is {value!r}; must be one of {', '.join(choices)}"
    if hint not in NUMBERS:
        return None  # a part with settings of its own
    accepted = (int, float) if hint is float else hint
    if isinstance(value, bool) is not (hint is bool) or not isinstance(value, accepted):
        return f"is {value!r}; must be {NUMBERS[hint]}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"is {value!r}; must be a finite number"
    holds, wording = ranges.get(name, (lambda _: True, ""))
    return None if holds(value) else f"is {value!r}; must be {wording}"


def made(cls: type[Part], settings: Mapping[str, Any]) -> Part:
    """A dataclass of settings; 1 given for 1.0 must not make a second key for the same trial."""
    hints = get_type_hints(cls)
    whole = [name for name, v in settings.items() if hints[name] is float and type(v) is int]
    return cls(**{**settings, **{name: float(settings[name]) for name in whole}})


def part_problems(part: Any, ranges: Ranges) -> list[str]:
    """What is wrong with the settings of a dataclass: one sentence each."""
    hints = get_type_hints(type(part))
    return [
        f"{field.name} {found}"
        for field in fields(part)
        if (
            found := value_problem(hints[field.name], field.name, getattr(part, field.name), ranges)
        )
    ]
