"""Axes of a grid or a search: lists of values, and ranges of numbers. No torch."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, TypeAlias

DIGITS = 4  # of the range that a drawn value keeps, so that it can be read and copied


@dataclass(frozen=True)
class Range:
    """The numbers from `min` to `max`; whole ones if both are.

    scale: on which values are uniformly distributed. step: distance of the values from `min`.
    """

    min: float
    max: float
    scale: Literal["linear", "log"] = "linear"
    step: float | None = None

    @property
    def whole(self) -> bool:
        """Whether the values are whole numbers."""
        return type(self.min) is int

    @property
    def spacing(self) -> float | None:
        """The distance of the values; None if they are continuous."""
        return self.step or (1 if self.whole else None)

    def problems(self) -> list[str]:
        """Return the rules that the range breaks."""
        ordered, step = self.min < self.max, self.step
        steps = (self.max - self.min) / step if ordered and step else 1.0
        rules = {
            "min below max": ordered,
            "min above 0 with scale log": self.scale == "linear" or self.min > 0,
            "no step with scale log": self.scale == "linear" or step is None,
            "max a whole number of steps above min": math.isclose(steps, round(steps)),
        }
        return [rule for rule, holds in rules.items() if not holds]

    def count(self) -> float:
        """Return the number of values; infinite if they are continuous."""
        spacing = self.spacing
        return round((self.max - self.min) / spacing) + 1 if spacing else math.inf

    def at(self, share: float) -> float:
        """Return the value at a share, at least 0 and below 1, of the range on its scale."""
        if self.scale == "log":
            half = 0.5 if self.whole else 0.0  # each whole number has its own interval
            low, high = math.log(self.min - half), math.log(self.max + half)
            return self.rounded(math.exp(low + share * (high - low)))
        if spacing := self.spacing:
            return self.rounded(self.min + math.floor(share * self.count()) * spacing)
        return self.rounded(self.min + share * (self.max - self.min))

    def rounded(self, value: float) -> float:
        """Return the nearest value of the range that is short to write."""
        if self.whole:
            value = round(value)
        elif self.step:
            value = float(f"{value:.12g}")  # 0.3 for 3 * 0.1
        else:
            log = self.scale == "log"
            width = value * math.log(self.max / self.min) if log else self.max - self.min
            value = round(value, DIGITS - math.floor(math.log10(width)))
        return min(max(value, self.min), self.max)


Axes: TypeAlias = Mapping[str, Sequence[Any] | Range]
Point: TypeAlias = dict[str, Any]  # a value of each axis


def size(axes: Axes) -> float:
    """Return the number of points; infinite with a continuous range."""
    return math.prod(
        axis.count() if isinstance(axis, Range) else len(axis) for axis in axes.values()
    )


def is_listed(axes: Axes) -> bool:
    """Return whether no axis is a range."""
    return not any(isinstance(axis, Range) for axis in axes.values())


def lists(axes: Axes) -> dict[str, Sequence[Any]]:
    """Return the axes with the minimum of each range in its place."""
    return {n: [axis.min] if isinstance(axis, Range) else axis for n, axis in axes.items()}


def grid_points(axes: Axes) -> list[Point]:
    """Return every combination of the axes' values; of a range, its minimum."""
    return [dict(zip(axes, values, strict=True)) for values in product(*lists(axes).values())]
