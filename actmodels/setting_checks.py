"""Whether a value can be a setting: its type, its choices, its range. Imports no torch."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

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
    holds, wording = ranges.get(name, (lambda _: True, ""))
    return None if holds(value) else f"is {value!r}; must be {wording}"


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
