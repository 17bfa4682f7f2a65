"""Types of settings with their ranges, which pydantic checks in params.yaml. No torch."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, get_type_hints

Schema = dict[str, Any]


class Range:
    """Range of a number, by pydantic's names: ge, gt, le, lt, multiple_of."""

    def __init__(self, **limits: float) -> None:
        self.limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Schema]) -> Schema:
        """Add the limits to pydantic's schema of the number, which is a dictionary."""
        return {**handler(source), **self.limits}


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
