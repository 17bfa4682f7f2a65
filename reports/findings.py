"""Which models the words are about, and words for what was found, whichever way it fell."""

from collections.abc import Iterable

from reports.blocks import DASH
from reports.spread import LEVEL, PLUS_MINUS, Gap, Interval, Spread, signed
from reports.stored.artefacts import Artefacts

MANY = 4  # as many models are named one by one; with more, only the featured ones
PAPER = ("decomposable_attention", "adaptive_attention")


def listed(items: list[str]) -> str:
    """`a, b and c`; items with commas of their own are parted by semicolons."""
    if len(items) == 1:
        return items[0]
    if any(", " in item for item in items):
        return f"{'; '.join(items[:-1])}; and {items[-1]}"
    return f"{', '.join(items[:-1])} and {items[-1]}"


def counted(number: int, what: str) -> str:
    """`1 trial`, `4 trials`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def p_value(value: float | None) -> str:
    """A p-value as it is printed; one seed has none."""
    if value is None:
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def over_seeds(counts: Iterable[int]) -> str:
    """What figures of runs are, that have so many seeds each."""
    different = sorted(set(counts))
    if different == [1]:
        return "one seed each, so no spread"
    return f"mean {PLUS_MINUS} sd over {listed([str(count) for count in different])} seeds"


def clearly(gap: Interval | Spread, less: str, more: str, same: str, level: float = LEVEL) -> str:
    """`clearly less`, `not clearly more`, or that there is no difference."""
    if gap.mean == 0:
        return same
    return f"{'' if gap.clear(level) else 'not '}clearly {less if gap.mean < 0 else more}"


def unpaired(ours: Spread, theirs: Spread) -> tuple[str, str]:
    """Above, below or level with; and by how many points, and whether that is clear."""
    gap = Gap.of(ours, theirs)
    spread = "no spread for at least one of the two"
    if gap.error is not None:
        spread = f"standard error {100 * gap.error:.2f}"
    direction = "above" if gap.mean > 0 else "below" if gap.mean < 0 else "level with"
    far = "" if gap.clear() else "; not a clear difference"
    return direction, f"{signed(100 * gap.mean)} points, {spread}{far}"


def verdict(gain: Interval, level: float) -> str:
    """How adaptive halting did, given its gain over something else."""
    if gain.clear(level):
        return "better than" if gain.mean > 0 else "worse than"
    return "not clearly better than" if gain.mean > 0 else "not better than"


def gained(gain: Spread) -> str:
    """The difference with its spread over paired seeds."""
    return f"{gain.points()} points, {paired_seeds(gain)}"


def paired_seeds(gap: Spread) -> str:
    """What the spread of a difference is over."""
    return "n = 1, no spread" if gap.sd is None else f"sd over {gap.n} paired seeds"


def best_on_dev(artefacts: Artefacts) -> str:
    """The retrained model with the highest mean dev accuracy (the first of equals).

    Chosen without the test set, so that its test accuracy is no maximum of many.
    """
    return max(artefacts.models, key=lambda m: Spread.of(artefacts.runs(m)["dev_accuracy"]).mean)


def featured(artefacts: Artefacts) -> tuple[str, ...]:
    """All models; of many the paper's two and the best on dev. In stored order."""
    if len(artefacts.models) <= MANY:
        return artefacts.models
    chosen = {*PAPER, best_on_dev(artefacts)}
    return tuple(model for model in artefacts.models if model in chosen)


def halting_models(artefacts: Artefacts) -> list[str]:
    """The models that choose their number of steps, in stored order."""
    return [model for model in artefacts.models if artefacts.adapts(model)]


def featured_halting(artefacts: Artefacts) -> list[str]:
    """Those of them that are featured."""
    return [model for model in halting_models(artefacts) if model in featured(artefacts)]
