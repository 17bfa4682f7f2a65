"""What a test reads from a chart's definition."""

from collections.abc import Iterable, Iterator
from typing import Any

from reports.blocks import Block, Chart, Figure
from reports.report import report
from reports.stored.artefacts import Artefacts

Row = dict[str, Any]


def by_name(blocks: Iterable[Block]) -> dict[str, Figure]:
    """The figures among the blocks."""
    return {block.name: block.figure for block in blocks if isinstance(block, Chart)}


def figures(artefacts: Artefacts, published: bool = True) -> dict[str, Figure]:
    """Those of the whole report."""
    return by_name(report(artefacts, published))


def rows(figure: Figure, field: str) -> list[Row]:
    """The stored rows that have a field."""
    stored = figure.spec["datasets"].values()
    return [row for rows in stored for row in rows if field in row]


def pick(found: list[Row], **wanted: Any) -> Row:
    """The one row with these values."""
    (row,) = [row for row in found if all(row.get(k) == v for k, v in wanted.items())]
    return row


def marks(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Type and encoding of every mark, layers within layers too."""
    for layer in spec.get("layer", ()):
        yield from marks(layer)
    if "mark" in spec:
        yield spec["mark"]["type"], spec["encoding"]


def axes(figure: Figure) -> dict[str, Any]:
    """Titles of the axes by channel."""
    found: dict[str, Any] = {}
    for _, encoding in marks(figure.spec):
        for channel in ("x", "y"):
            part = encoding.get(channel, {})
            heading = part.get("title") or (part.get("axis") or {}).get("title")
            if heading:
                found.setdefault(channel, heading)
    return found


def legend(figure: Figure) -> list[str]:
    """The series that the legend names, in order."""
    named = (encoding["color"] for _, encoding in marks(figure.spec) if "color" in encoding)
    domain: list[str] = next(colour["scale"]["domain"] for colour in named if "scale" in colour)
    return domain
