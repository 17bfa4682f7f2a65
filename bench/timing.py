"""Times of variants that take turns, and what is said of them."""

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

Summary = dict[str, float]
Name = TypeVar("Name", bound=Hashable)
Run = TypeVar("Run")


@dataclass(frozen=True)
class Timed:
    """One run: how much it did, in how many seconds of the clock and of processors."""

    count: float
    wall: float
    cpu: float


def timed(work: Callable[[], float]) -> Timed:
    """Run `work`, which returns how much it did."""
    wall, cpu = time.perf_counter(), time.process_time()
    count = work()
    return Timed(count, time.perf_counter() - wall, time.process_time() - cpu)


def interleaved(
    variants: Mapping[Name, Callable[[], Run]],
    repeats: int,
    say: Callable[[str], None] = lambda _: None,
    warm_ups: int = 1,
) -> dict[Name, list[Run]]:
    """Run A B C, A B C, ...: what disturbs the machine for a while disturbs all of them.

    Args:
        say: told which round begins. warm_ups: first rounds, which are thrown away.
    """
    runs: dict[Name, list[Run]] = {name: [] for name in variants}
    for number in range(1 - warm_ups, repeats + 1):
        say(f"round {number} of {repeats}" if number > 0 else "warm-up")
        for name, run in variants.items():
            taken = run()
            if number > 0:
                runs[name].append(taken)
    return runs


def summary(values: Iterable[float]) -> Summary:
    """Median, smallest, largest and number of some values."""
    listed = list(values)
    return {"median": median(listed), "min": min(listed), "max": max(listed), "n": len(listed)}


def rates(runs: Sequence[Timed]) -> dict[str, Summary]:
    """How much was done in a second of the clock, and in a second of a processor."""
    return {
        "per_second": summary(run.count / run.wall for run in runs),
        "per_cpu_second": summary(run.count / run.cpu for run in runs),
    }


def ratios(runs: Sequence[Timed], against: Sequence[Timed]) -> dict[str, Summary]:
    """How many times as fast as another variant, round by round, by clock and by processor."""
    rounds = list(zip(runs, against, strict=True))
    return {
        "times_as_fast": summary((a.count / a.wall) / (b.count / b.wall) for a, b in rounds),
        "times_by_cpu": summary((a.count / a.cpu) / (b.count / b.cpu) for a, b in rounds),
    }
