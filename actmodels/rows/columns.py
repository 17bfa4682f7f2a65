"""What the columns of a stored table may hold; a dataclass of such columns declares a table.

The stages write their tables by these declarations and the report reads them by the same ones.
"""

from dataclasses import dataclass, fields
from typing import Annotated

# Beside int, float, `float | None` and bool, an empty cell being None:
Name = Annotated[str, "not empty"]
Share = Annotated[float, "from 0 to 1"]
Correlation = Annotated[float | None, "from -1 to 1"]


@dataclass(frozen=True)
class Difference:
    """Of mean test accuracies: its 95 % interval and the p of no difference, over so many pairs.

    p is empty with one seed. As the first of two bases its columns stand behind those of the
    second, which name what is compared.
    """

    difference: float
    low: float
    high: float
    p: float | None
    pairs: int


@dataclass(frozen=True)
class Means:
    """Means with sample sds over the seeds of a run."""

    seeds: int
    dev_accuracy_mean: Share
    dev_accuracy_sd: float | None
    test_accuracy_mean: Share
    test_accuracy_sd: float | None
    test_mean_steps: float | None


@dataclass(frozen=True)
class OverSeeds(Difference, Means):
    """A run's means and its difference from the first of its kind."""


def columns(row: type, *, after: str | None = None) -> list[str]:
    """The columns of a table in their order; those after one of them, if it is given."""
    names = [field.name for field in fields(row)]
    return names if after is None else names[names.index(after) + 1 :]
