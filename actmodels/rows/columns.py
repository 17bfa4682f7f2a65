"""What the columns of a stored table may hold; a dataclass of such columns declares a table.

The stages write their tables by these declarations and the report reads them by the same ones.
"""

from dataclasses import fields
from typing import Annotated

# Beside int, float, `float | None` and bool, an empty cell being None:
Name = Annotated[str, "not empty"]
Share = Annotated[float, "from 0 to 1"]
Correlation = Annotated[float | None, "from -1 to 1"]


def columns(row: type, *, after: str | None = None) -> list[str]:
    """The columns of a table in their order; those after one of them, if it is given."""
    names = [field.name for field in fields(row)]
    return names if after is None else names[names.index(after) + 1 :]
