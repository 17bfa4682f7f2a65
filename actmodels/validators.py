"""The range of a setting, as a part of its type, which pydantic checks in params.yaml. No torch."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, get_type_hints

Schema = dict[str, Any]


class Range:
    """The ends of a number, by pydantic's names: ge, gt, le, lt; and multiple_of."""

    def __init__(self, **ends: float) -> None:
        self.ends = ends

    def __get_pydantic_core_schema__(self, kind: Any, handler: Callable[[Any], Schema]) -> Schema:
        """Add the ends to pydantic's schema of the number, which is a dictionary."""
        return {**handler(kind), **self.ends}


# Every number has an upper end, or a slip of the keyboard is work without end. They are ours, each
# at least six times the most that any publication here has.
MOST = 10**9
Count = Annotated[int, Range(ge=1, le=MOST)]
NonNegativeInt = Annotated[int, Range(ge=0, le=MOST)]
NonNegativeFloat = Annotated[float, Range(ge=0, le=MOST)]
Positive = Annotated[float, Range(gt=0, le=MOST)]
Share = Annotated[float, Range(ge=0, lt=1)]
UnitInterval = Annotated[float, Range(ge=0, le=1)]
Epochs = Annotated[int, Range(ge=1, le=100_000)]  # Graves 2016: 1,000 of ours
Steps = Annotated[int, Range(ge=1, le=1000)]  # Graves 2016: 100
Several = Annotated[int, Range(ge=2, le=1000)]
BatchSize = Annotated[int, Range(ge=1, le=1_000_000)]  # and pairs, that are held at once
Size = Annotated[int, Range(ge=1, le=10_000)]  # Graves 2016: 1,500; a square layer takes 400 MB
Bias = Annotated[float, Range(ge=-1000, le=1000)]


@cache
def settings_of(*parts: type) -> dict[str, Any]:
    """Name and type of every field of dataclasses, ranges included, in their order."""
    hints = (get_type_hints(part, include_extras=True) for part in parts)
    return {name: hint for of_part in hints for name, hint in of_part.items()}
