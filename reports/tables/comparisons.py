"""The models against one of them, on the same test pairs: figures of the stage `evaluate`."""

from dataclasses import dataclass

from reports.spread import Interval
from reports.stored.artefacts import Artefacts


@dataclass(frozen=True)
class Comparison:
    """A model against the reference.

    difference: of test accuracies, with the 95 % interval of the paired bootstrap over seeds
        and test pairs.
    largest_p: of McNemar's exact tests, one per seed.
    """

    model: str
    reference: str
    seeds: int
    pairs: int
    difference: Interval
    largest_p: float

    @property
    def direction(self) -> str:
        """`above`, `below` or `level with` the reference."""
        mean = self.difference.mean
        return "above" if mean > 0 else "below" if mean < 0 else "level with"

    @property
    def over(self) -> str:
        """`3 seeds, 100 pairs`."""
        return f"{counted(self.seeds, 'seed')}, {self.pairs:,} pairs"


def counted(count: int, what: str) -> str:
    """`1 seed`, `3 seeds`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def p_value(value: float) -> str:
    """A p-value as it is printed."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def comparisons(artefacts: Artefacts) -> list[Comparison]:
    """All of them in stored order: retrained models, then the lexicalised classifier."""
    return [
        Comparison(
            model=str(row["model"]),
            reference=str(row["reference"]),
            seeds=int(row["seeds"]),
            pairs=int(row["pairs"]),
            difference=Interval(row["difference"], row["low"], row["high"], int(row["seeds"])),
            largest_p=float(row["largest_p"]),
        )
        for _, row in artefacts.paired.iterrows()
    ]
