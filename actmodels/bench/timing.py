"""Times of variants that take turns, and what is said of them."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Summary = dict[str, float]


@dataclass(frozen=True)
class Timed:
    """One run: how much it did, in how many seconds of the clock and of processors."""

    count: float
    wall: float
    cpu: float


def timed(work: Callable[[], float], settle: Callable[[], None] = lambda: None) -> Timed:
    """Run `work`, which returns how much it did.

    Args:
        settle: waits for what a device still has to do, before each look at the clock.
    """
    settle()
    wall, cpu = time.perf_counter(), time.process_time()
    count = work()
    settle()
    return Timed(count, time.perf_counter() - wall, time.process_time() - cpu)


def interleaved(
    variants: Mapping[str, Callable[[], Timed]],
    repeats: int,
    said: Callable[[str], None] = lambda _: None,
) -> dict[str, list[Timed]]:
    """Run A B C, A B C, ...: what disturbs the machine for a while disturbs all of them.

    A first round is run and thrown away.

    Args:
        said: told which round begins.
    """
    runs: dict[str, list[Timed]] = {name: [] for name in variants}
    for number in range(repeats + 1):
        said(f"round {number} of {repeats}" if number else "warm-up")
        for name, run in variants.items():
            taken = run()
            if number:
                runs[name].append(taken)
    return runs


def summary(values: Iterable[float]) -> Summary:
    """Median, smallest, largest and number of some values."""
    listed = list(values)
    return {
        "median": median(listed),
        "min": min(listed),
        "max": max(listed),
        "n": len(listed),
    }


def rates(runs: Sequence[Timed]) -> dict[str, Summary]:
    """How much was done in a second of the clock, and in a second of a processor."""
    return {
        "per_second": summary(run.count / run.wall for run in runs),
        "per_cpu_second": summary(run.count / run.cpu for run in runs),
    }


def ratios(runs: Sequence[Timed], against: Sequence[Timed]) -> dict[str, Summary]:
    """How many times as fast as another variant, round by round."""
    rounds = list(zip(runs, against, strict=True))
    return {
        "per_second": summary(
            (one.count / one.wall) / (other.count / other.wall) for one, other in rounds
        ),
        "per_cpu_second": summary(
            (one.count / one.cpu) / (other.count / other.cpu) for one, other in rounds
        ),
    }
