"""The benchmark's JSON as markdown: what the keys say, and a table for each list of rows."""

from collections.abc import Mapping, Sequence
from typing import Any

Found = Mapping[str, Any]
DASH = "\N{EN DASH}"


def figure(value: float) -> str:
    """Three digits, more in front of the point, whole numbers whole: 0.0123, 1.38, 12.3, 1,234."""
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}" if size >= 1 else f"{value:.3g}"


def cell(value: Any) -> str:
    """`193 (180-247)` where there is a spread, three digits of a number, all else as it is."""
    if isinstance(value, Mapping):
        ends = f"{figure(value['min'])}{DASH}{figure(value['max'])}"
        middle = figure(value["median"])
        return middle if value["n"] == 1 else f"{middle} ({ends}, n = {value['n']})"
    if value is None:
        return DASH
    return (
        figure(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
    )


def table(rows: Sequence[Found]) -> str:
    """A column for each key."""
    header = [key.replace("_", " ") for key in rows[0]]
    lines = [
        header,
        ["---"] * len(header),
        *([cell(value) for value in row.values()] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def listed(found: Found) -> str:
    """Keys and values in one line."""
    return "; ".join(f"{key.replace('_', ' ')}: {cell(value)}" for key, value in found.items())


def bench_report(document: Found) -> str:
    """The whole of bench.md."""
    paragraphs = [
        "# Benchmark of this software",
        listed(document["machine"] | {"sentences": document["sentences"]}),
        "Cells give the median (smallest to largest) of n rounds in which the variants took turns.",
    ]
    if document["quick"]:
        paragraphs.append("**A quick run at tiny sizes: no figure counts.**")
    for name, part in document["parts"].items():
        lists = {key: value for key, value in part.items() if isinstance(value, list) and value}
        others = {k: v for k, v in part.items() if not isinstance(v, list) and k != "what"}
        paragraphs += [f"## {name}", part["what"], *map(table, lists.values()), listed(others)]
    return "\n\n".join(paragraphs) + "\n"
