"""Words for what was found, chosen by the numbers whichever way they fall."""

from collections.abc import Iterable

from reports.spread import PLUS_MINUS, Gap, Interval, Spread, signed


def listed(items: list[str]) -> str:
    """`a, b and c`; items with commas of their own are parted by semicolons."""
    if len(items) == 1:
        return items[0]
    if any(", " in item for item in items):
        return f"{'; '.join(items[:-1])}; and {items[-1]}"
    return f"{', '.join(items[:-1])} and {items[-1]}"


def over_seeds(counts: Iterable[int]) -> str:
    """What figures of runs are, that have so many seeds each."""
    different = sorted(set(counts))
    if different == [1]:
        return "one seed each, so no spread"
    return f"mean {PLUS_MINUS} sd over {listed([str(count) for count in different])} seeds"


def clearly(gap: Interval | Spread, less: str, more: str, level: str) -> str:
    """`clearly less`, `not clearly more`, or that there is no difference."""
    if gap.mean == 0:
        return level
    return f"{'' if gap.clear else 'not '}clearly {less if gap.mean < 0 else more}"


def unpaired(ours: Spread, theirs: Spread) -> tuple[str, str]:
    """Above, below or level with; and by how many points, and whether that is clear."""
    gap = Gap.of(ours, theirs)
    spread = "no spread for at least one of the two"
    if gap.error is not None:
        spread = f"standard error {100 * gap.error:.2f}"
    direction = "above" if gap.mean > 0 else "below" if gap.mean < 0 else "level with"
    far = "" if gap.clear else "; not a clear difference"
    return direction, f"{signed(100 * gap.mean)} points, {spread}{far}"


def verdict(gain: Spread) -> str:
    """How adaptive halting did, given its gain over something else."""
    if gain.clear:
        return "better than" if gain.mean > 0 else "worse than"
    return "not clearly better than" if gain.mean > 0 else "not better than"


def gained(gain: Spread) -> str:
    """The difference with its spread over paired seeds."""
    over = "n = 1, no spread" if gain.sd is None else f"sd over {gain.n} paired seeds"
    return f"{gain.points()} points, {over}"
