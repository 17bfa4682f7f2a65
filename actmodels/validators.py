"""Types of settings with their ranges, which pydantic checks in params.yaml. No torch."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

Schema = dict[str, Any]
LIMITS = {
    "ge": ("at least", operator.ge),
    "gt": ("above", operator.gt),
    "le": ("at most", operator.le),
    "lt": ("below", operator.lt),
    "multiple_of": ("a multiple of", lambda value, factor: value % factor == 0),
}
TYPES: dict[type, tuple[str, tuple[type, ...]]] = {
    bool: ("true or false", (bool,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    str: ("text", (str,)),
}


class Range:
    """Range of a number, by pydantic's names: ge, gt, le, lt, multiple_of."""

    def __init__(self, **limits: float) -> None:
        self.limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Schema]) -> Schema:
        """Add the limits to pydantic's schema of the number, which is a dictionary."""
        return {**handler(source), **self.limits}

    @property
    def wording(self) -> str:
        """Return the range in words: `above 0 and below 1`."""
        return " and ".join(f"{LIMITS[name][0]} {limit:,}" for name, limit in self.limits.items())

    def contains(self, value: float) -> bool:
        """Return whether a number is in the range; nan is not."""
        return all(LIMITS[name][1](value, limit) for name, limit in self.limits.items())


# Upper limits prevent a typo from starting endless work. They are ours, each at least six times the
# maximum of all publications here.
MOST = 10**9
Count = Annotated[int, Range(ge=1, le=MOST)]
NonNegativeInt = Annotated[int, Range(ge=0, le=MOST)]
NonNegativeFloat = Annotated[float, Range(ge=0, le=MOST)]
Positive = Annotated[float, Range(gt=0, le=MOST)]
HalfOpenUnitInterval = Annotated[float, Range(ge=0, lt=1)]
UnitInterval = Annotated[float, Range(ge=0, le=1)]
Epochs = Annotated[int, Range(ge=1, le=100_000)]  # Graves 2016: 1,000 of ours
Steps = Annotated[int, Range(ge=1, le=1000)]  # Graves 2016: 100
Several = Annotated[int, Range(ge=2, le=1000)]
BatchSize = Annotated[int, Range(ge=1, le=1_000_000)]  # also pairs held in memory together
Size = Annotated[int, Range(ge=1, le=10_000)]  # Graves 2016: 1,500; a square layer takes 400 MB
Bias = Annotated[float, Range(ge=-1000, le=1000)]


@cache
def settings_of(*parts: type) -> dict[str, Any]:
    """Return name and type, with range, of the fields of dataclasses, in order."""
    hints = (get_type_hints(part, include_extras=True) for part in parts)
    return {name: hint for types in hints for name, hint in types.items()}


def optional_settings(*parts: type) -> set[str]:
    """Return the fields of dataclasses that have a default, which switches them off."""
    return {
        f.name
        for part in parts
        if is_dataclass(part)
        for f in fields(part)
        if f.default is not MISSING
    }


class Checked:
    """Base class of dataclasses that check type and range of their fields, as pydantic does."""

    def __post_init__(self) -> None:
        """Raise ValueError with a sentence for each invalid field."""
        if problems := "; ".join(self._problems()):
            raise ValueError(f"{type(self).__name__}: {problems}")

    def _problems(self) -> Iterator[str]:
        of_self: type = type(self)
        for name, hint in settings_of(of_self).items():
            value = getattr(self, name)
            if get_origin(hint) is Literal:
                wording, valid = f"one of {get_args(hint)}", value in get_args(hint)
            else:
                of, *ranges = get_args(hint) if get_origin(hint) is Annotated else (hint,)
                wording, types = TYPES[of]
                valid = isinstance(value, types) and (of is bool or type(value) is not bool)
                if valid and ranges:
                    wording = " and ".join(one.wording for one in ranges)
                    valid = all(one.contains(value) for one in ranges)
            if not valid:
                yield f"{name} is {value!r}; must be {wording}"
