"""The values that a setting can have: its type says which, with the range. Imports no torch."""

import sys
from collections.abc import Callable, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from actmodels.errors import shown

Part = TypeVar("Part")
NUMBERS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


class Range(NamedTuple):
    """Which values of a type can be: a rule, and how to say it, of a value where that helps."""

    holds: Callable[[Any], bool]
    wording: str | Callable[[Any], str]


def at_most(most: int) -> Range:
    """An upper end: every number has one, or a slip of the keyboard is work without end."""
    return Range(lambda v: v <= most, f"at most {most:,}")


ONE, NOUGHT = Range(lambda v: v >= 1, "at least 1"), Range(lambda v: v >= 0, "at least 0")
MOST = at_most(10**9)  # ours: of whatever there is more of, nobody sees the end
Count = Annotated[int, ONE, MOST]
Natural = Annotated[int, NOUGHT, MOST]
Amount = Annotated[float, NOUGHT, MOST]
Positive = Annotated[float, Range(lambda v: v > 0, "above 0"), MOST]
Share = Annotated[float, Range(lambda v: 0 <= v < 1, "in [0, 1)")]
Portion = Annotated[float, Range(lambda v: 0 <= v <= 1, "in [0, 1]")]
# The ends that follow are ours, each at least six times the most that any publication here has.
Epochs = Annotated[int, ONE, at_most(100_000)]  # Graves 2016: 1,000 of ours
Steps = Annotated[int, ONE, at_most(1000)]  # Graves 2016: 100
Several = Annotated[int, Range(lambda v: v >= 2, "at least 2"), at_most(1000)]
Sequences = Annotated[int, ONE, at_most(1_000_000)]  # and pairs, that are held at once
Size = Annotated[int, ONE, Range(lambda v: v <= 10_000, lambda v: f"at most 10,000: {needed(v)}")]
Bias = Annotated[float, Range(lambda v: abs(v) <= 1000, "from -1,000 to 1,000")]


def needed(size: int) -> str:
    """The memory of a layer of that size; Graves (2016) has 1,500."""
    squared = 4.0 * min(size, 10**100) ** 2
    return f"a square layer of that size takes {squared / 1e9:.3g} GB"


def settings_of(*parts: type) -> dict[str, Any]:
    """Name and type of every field of dataclasses, ranges included, in their order."""
    hints = (get_type_hints(part, include_extras=True) for part in parts)
    return {name: hint for of_part in hints for name, hint in of_part.items()}


def value_problem(hint: Any, value: object) -> str | None:
    """Why a value cannot be a setting, such as "is 0; must be at least 1"; None if it can.

    Args:
        hint: see `wanted`.
    """
    wording = wanted(hint, value)
    return None if wording is None else f"is {shown(value)}; must be {wording}"


def wanted(hint: Any, value: object) -> str | None:
    """What a setting must be and this value is not, such as "at least 1"; None if it is.

    Args:
        hint: the setting's type; one that is neither a choice nor a number is not looked at.
    """
    kind, *ranges = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        return None if value in choices else f"one of {', '.join(choices)}"
    if kind not in NUMBERS:
        return None  # a part with settings of its own
    accepted = (int, float) if kind is float else kind
    if isinstance(value, bool) is not (kind is bool) or not isinstance(value, accepted):
        return NUMBERS[kind]
    if kind is float and not _finite(value):
        return "a finite number"
    for one in ranges:
        if not one.holds(value):
            return one.wording if isinstance(one.wording, str) else one.wording(value)
    return None


def problems_of(part: object) -> list[str]:
    """What is wrong with the settings of a dataclass: one sentence each."""
    found = {
        n: value_problem(hint, getattr(part, n)) for n, hint in settings_of(type(part)).items()
    }
    return [f"{name} {problem}" for name, problem in found.items() if problem]


def made(part: type[Part], settings: Mapping[str, Any]) -> Part:
    """A dataclass of its settings among others; 1 for 1.0 must not make another trial's key."""
    hints = settings_of(part)
    own = {name: settings[name] for name in hints}
    whole = {
        name
        for name, value in own.items()
        if type(value) is int and is_float(hints[name]) and _finite(value)
    }
    return part(**{name: float(v) if name in whole else v for name, v in own.items()})


def _finite(value: Any) -> bool:
    """Whether it is a number that a float can be; 10**400 is none."""
    return bool(abs(value) <= sys.float_info.max)


def is_float(hint: Any) -> bool:
    """Whether a setting of this type is a number that need not be whole."""
    return hint is float or (get_origin(hint) is Annotated and get_args(hint)[0] is float)
