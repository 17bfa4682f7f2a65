"""Types of settings with their ranges, which pydantic checks in params.yaml. No torch."""

import numbers
import operator
from collections.abc import Callable, Iterator
from dataclasses import MISSING, field, fields, is_dataclass
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


class Between:
    """The range of a number, by pydantic's names: ge, gt, le, lt, multiple_of."""

    def __init__(self, **limits: float) -> None:
        self.limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Schema]) -> Schema:
        """Add the limits to pydantic's schema of the number, which is a dictionary."""
        return {**handler(source), **self.limits}

    @property
    def wording(self) -> str:
        """Return the range in words: `above 0 and below 1`."""
        return " and ".join(
            f"{LIMITS[name][0]} {limit:,.16g}" for name, limit in self.limits.items()
        )

    def contains(self, value: float) -> bool:
        """Return whether a number is in the range; nan is not."""
        return all(LIMITS[name][1](value, limit) for name, limit in self.limits.items())


# Upper limits prevent a typo from starting endless work. They are ours, each at least six times the
# maximum of all publications here.
MOST = 10**9
Count = Annotated[int, Between(ge=1, le=MOST)]
NonNegativeInt = Annotated[int, Between(ge=0, le=MOST)]
NonNegativeFloat = Annotated[float, Between(ge=0, le=MOST)]
Positive = Annotated[float, Between(gt=0, le=MOST)]
HalfOpenUnitInterval = Annotated[float, Between(ge=0, lt=1)]
UnitInterval = Annotated[float, Between(ge=0, le=1)]
Epochs = Annotated[int, Between(ge=1, le=100_000)]  # Graves 2016: 1,000 of ours
Steps = Annotated[int, Between(ge=1, le=1000)]  # Graves 2016: 100
Several = Annotated[int, Between(ge=2, le=1000)]
BatchSize = Annotated[int, Between(ge=1, le=1_000_000)]  # also pairs held in memory together
Size = Annotated[int, Between(ge=1, le=10_000)]  # Graves 2016: 1,500; a square layer takes 400 MB
Bias = Annotated[float, Between(ge=-1000, le=1000)]


@cache
def settings_of(*parts: type) -> dict[str, Any]:
    """Return name and type, with range, of the fields of dataclasses, in order."""
    hints = (get_type_hints(part, include_extras=True) for part in parts)
    return {name: hint for types in hints for name, hint in types.items()}


def setting(default: Any, text: str, *, optional: bool = False) -> Any:
    """Return a field with a default for users of the library; params.yaml must name it.

    optional: the default switches it off, so that params.yaml may leave it out.
    """
    return field(default=default, metadata={"text": text, "optional": optional})


def optional_settings(*parts: type) -> set[str]:
    """Return the fields that are off if they are absent."""
    return {
        f.name
        for part in parts
        if is_dataclass(part)
        for f in fields(part)
        if f.default is not MISSING and f.metadata.get("optional", True)
    }


def wording_of(hint: Any) -> str:
    """Return type and range of a setting in words."""
    if get_origin(hint) is Literal:
        return f"one of {get_args(hint)}"
    of, *ranges = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    return " and ".join(one.wording for one in ranges) or TYPES[of][0]


class Checked:
    """Base class of dataclasses that check type and range of their fields, as pydantic does."""

    @classmethod
    def help(cls) -> str:
        """Return a line per setting: name, default, meaning, range."""
        hints = get_type_hints(cls, include_extras=True)
        return "\n".join(
            f"{f.name} = {f.default!r}: {f.metadata['text']} ({wording_of(hints[f.name])})"
            for f in fields(cls)  # type: ignore[arg-type]  # subclasses are dataclasses
            if "text" in f.metadata
        )

    def __post_init__(self) -> None:
        """Raise ValueError with a sentence for each invalid field."""
        if problems := "; ".join(self._problems()):
            raise ValueError(f"{type(self).__name__}: {problems}")

    def _problems(self) -> Iterator[str]:
        of_self: type = type(self)
        for name, hint in settings_of(of_self).items():
            value = getattr(self, name)
            if get_origin(hint) is Literal:
                if value not in get_args(hint):
                    yield f"{name} is {value!r}; must be {wording_of(hint)}"
                continue
            of, *ranges = get_args(hint) if get_origin(hint) is Annotated else (hint,)
            value = self._plain(name, value, of)
            wording, types = TYPES[of]
            if not isinstance(value, types) or (of is not bool and type(value) is bool):
                yield f"{name} is {value!r}; must be {wording}"
            elif not all(one.contains(value) for one in ranges):
                yield f"{name} is {value!r}; must be {wording_of(hint)}"

    def _plain(self, name: str, value: Any, of: type) -> Any:
        """Replace a number of NumPy by one of Python, and return it."""
        kinds = {int: numbers.Integral, float: numbers.Real}
        if of not in kinds or type(value) in (bool, int, float) or not isinstance(value, kinds[of]):
            return value
        plain = int(value) if isinstance(value, numbers.Integral) else float(value)
        object.__setattr__(self, name, plain)
        return plain
