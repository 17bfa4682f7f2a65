"""Times of variants that take turns, and the tables of them."""

import sys
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

Summary = dict[str, float]
Name = TypeVar("Name", bound=Hashable)
Run = TypeVar("Run")
DASH = "\N{EN DASH}"


def progress(what: str) -> None:
    """Print on standard error what is being done."""
    print(what, file=sys.stderr, flush=True)


def seconds(work: Callable[[], object]) -> float:
    """Run `work` and return how long it took."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(
    variants: Mapping[Name, Callable[[], Run]], repeats: int, warm_ups: int = 1
) -> dict[Name, list[Run]]:
    """Run A B C, A B C, ..., so that disturbances hit all; discard the first `warm_ups` rounds."""
    runs: dict[Name, list[Run]] = {name: [] for name in variants}
    for number in range(1 - warm_ups, repeats + 1):
        progress(f"round {number} of {repeats}" if number > 0 else "warm-up")
        for name, run in variants.items():
            taken = run()
            if number > 0:
                runs[name].append(taken)
    return runs


def summary(values: Iterable[float]) -> Summary:
    """Median, smallest, largest and number of some values."""
    listed = list(values)
    return {"median": median(listed), "min": min(listed), "max": max(listed), "n": len(listed)}


def figure(value: float) -> str:
    """Three digits, more in front of the point, whole numbers whole: 0.0123, 1.38, 12.3, 1,234."""
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}" if size >= 1 else f"{value:.3g}"


def cell(value: Any) -> str:
    """`193 (180-247, n = 5)` of a summary, three digits of a number, all else as it is."""
    if isinstance(value, Mapping):
        ends = f"{figure(value['min'])}{DASH}{figure(value['max'])}"
        return f"{figure(value['median'])} ({ends}, n = {value['n']})"
    if value is None:
        return DASH
    return figure(value) if isinstance(value, int | float) else str(value)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as markdown, a column for each key."""
    header = [key.replace("_", " ") for key in rows[0]]
    cells = [[cell(value) for value in row.values()] for row in rows]
    lines = [header, ["---"] * len(header), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def listed(facts: Mapping[str, Any]) -> str:
    """Keys and values in one line."""
    return "; ".join(f"{key.replace('_', ' ')}: {cell(value)}" for key, value in facts.items())
