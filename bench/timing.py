"""Time variants of a computation in alternation, and print the results as markdown tables."""

import argparse
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

Summary = dict[str, float]
Name = TypeVar("Name", bound=Hashable)
Result = TypeVar("Result")
DASH = "\N{EN DASH}"


def quick_requested(module: str, description: str | None) -> bool:
    """Parse the command line of a benchmark; return whether --quick is set."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{module}", description=description)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="tiny sizes; the numbers mean nothing")
    return parser.parse_args().quick


def progress(message: str) -> None:
    """Print a message to standard error."""
    print(message, file=sys.stderr, flush=True)


def seconds(function: Callable[[], object]) -> float:
    """Call `function` and return its wall time in seconds."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def interleaved(
    variants: Mapping[Name, Callable[[], Result]], repeats: int, warm_ups: int = 1
) -> dict[Name, list[Result]]:
    """Run A B C, A B C, ..., so that disturbances affect all variants alike.

    Returns:
        the results of each variant, without those of the first `warm_ups` rounds.
    """
    results: dict[Name, list[Result]] = {name: [] for name in variants}
    for number in range(1 - warm_ups, repeats + 1):
        progress(f"round {number} of {repeats}" if number > 0 else "warm-up")
        for name, variant in variants.items():
            results[name].append(variant())
    return {name: values[warm_ups:] for name, values in results.items()}


def summary(values: Iterable[float]) -> Summary:
    """Return median, minimum, maximum and number of values."""
    numbers = list(values)
    return {"median": median(numbers), "min": min(numbers), "max": max(numbers), "n": len(numbers)}


def format_number(value: float) -> str:
    """Format to three significant digits, but integers in full: 0.0123, 1.38, 12.3, 1,234."""
    size = abs(value)
    if size < 1:
        return f"{value:.3g}"
    digits = 0 if size >= 100 or isinstance(value, int) else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}"


def format_cell(value: Any) -> str:
    """Format a summary as `193 (180-247, n = 5)`, a number by `format_number`, None as a dash."""
    if isinstance(value, Mapping):
        low, middle, high = (format_number(value[name]) for name in ("min", "median", "max"))
        return f"{middle} ({low}{DASH}{high}, n = {value['n']})"
    if value is None:
        return DASH
    return format_number(value) if isinstance(value, int | float) else str(value)


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Format rows of equal keys as a markdown table, one column for each key."""
    header = [key.replace("_", " ") for key in rows[0]]
    cells = [[format_cell(value) for value in row.values()] for row in rows]
    lines = [header, ["---"] * len(header), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def one_line(facts: Mapping[str, Any]) -> str:
    """Format keys and values as `cores: 2; gpu: none`."""
    return "; ".join(
        f"{key.replace('_', ' ')}: {format_cell(value)}" for key, value in facts.items()
    )
