"""Means with their spread over seeds, and how every number of the report is worded."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import fmean, stdev
from typing import Self

import pandas as pd
from scipy.special import stdtr, stdtrit

from actmodels.registry import HALTINGS
from reports.blocks import DASH, Cell

MINUS = "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
LEVEL = 0.05  # how often a difference may be called clear where there is none
NOTHING = 1e-9  # what is nearer to zero differs by rounding alone


@dataclass(frozen=True)
class Interval:
    """A difference with the ends of its 95 % interval; at a level of 5 % it is clear if that
    leaves out zero.

    p: of no difference, two-sided; None for one seed, which says nothing about others, so that
        nothing is clear then.
    """

    mean: float
    low: float
    high: float
    p: float | None

    def above(self, level: float = LEVEL) -> bool:
        """Whether it is clearly above zero."""
        return self.mean > NOTHING and self.clear(level)

    def below(self, level: float = LEVEL) -> bool:
        """Whether it is clearly below zero."""
        return self.mean < -NOTHING and self.clear(level)

    def clear(self, level: float = LEVEL) -> bool:
        """Whether it is clear; one of many is asked at the level that Holm gives (holm_level)."""
        return self.p is not None and self.p <= level and abs(self.mean) > NOTHING

    @classmethod
    def around(cls, mean: float, error: float, freedom: float) -> Self:
        """By Student's t, of a mean with its standard error and degrees of freedom."""
        if error == 0:
            return cls(mean, mean, mean, float(abs(mean) < NOTHING))
        margin = t_quantile(freedom) * error
        return cls(
            mean, mean - margin, mean + margin, 2 * float(stdtr(freedom, -abs(mean / error)))
        )

    @classmethod
    def stored(cls, row: "pd.Series[float]") -> Self:
        """One that a stage wrote as difference, low, high and p."""
        p = row["p"]
        return cls(row["difference"], row["low"], row["high"], None if pd.isna(p) else float(p))

    def points(self) -> str:
        """`-2.10 (-2.90 to -1.30)`, in percentage points."""
        mean, low, high = (signed(100 * value) for value in (self.mean, self.low, self.high))
        return f"{mean} ({low} to {high})"


@dataclass(frozen=True)
class Gap(Interval):
    """The difference of two unpaired means, with its standard error (Welch 1947).

    error: None where one of them has no spread.
    """

    error: float | None = None

    @classmethod
    def of(cls, ours: "Spread", theirs: "Spread") -> "Gap":
        """The difference ours minus theirs, of seeds that have nothing to do with one another."""
        mean = round(ours.mean - theirs.mean, 12)
        if ours.sd is None or theirs.sd is None:
            return cls(mean, mean, mean, None)
        first, second = ours.sd**2 / ours.n, theirs.sd**2 / theirs.n
        error, freedom = math.sqrt(first + second), math.inf
        if error > 0:
            freedom = error**4 / (first**2 / (ours.n - 1) + second**2 / (theirs.n - 1))
        return replace(cls.around(mean, error, freedom), error=error)


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (n - 1) of n values; one value has no spread.

    Both are rounded to 12 decimals, so that 0.82 - 0.8 is 0.02 and equal means differ by 0.
    """

    mean: float
    sd: float | None
    n: int

    @classmethod
    def of(cls, values: Sequence[float] | pd.Series) -> "Spread":
        """The spread of at least one value."""
        listed = [float(value) for value in values]
        sd = None if len(listed) == 1 else math.nan  # of a diverged trial's infinite loss
        if len(listed) > 1 and all(map(math.isfinite, listed)):
            sd = round(stdev(listed), 12)
        return cls(round(fmean(listed), 12), sd, len(listed))

    @classmethod
    def known(cls, values: pd.Series) -> "Spread | None":
        """The spread of those that are not empty; None if all are."""
        found = values.dropna()
        return None if found.empty else cls.of(found)

    @classmethod
    def stored(cls, mean: float, sd: float, n: int) -> "Spread":
        """A spread that a stage computed; the empty sd of one value is read as nan."""
        return cls(round(mean, 12), None if math.isnan(sd) else round(sd, 12), n)

    @property
    def interval(self) -> Interval:
        """The mean of differences with its 95 % interval, by Student's t."""
        if self.sd is None:
            return Interval(self.mean, self.mean, self.mean, None)
        return Interval.around(self.mean, self.sd / math.sqrt(self.n), self.n - 1)

    def clear(self, level: float = LEVEL) -> bool:
        """Whether a mean difference is clear; never with one seed."""
        return self.interval.clear(level)

    def percent(self) -> str:
        """`82.7 ± 0.35`: a share as a percentage."""
        return self._worded(f"{100 * self.mean:.1f}", 100)

    def plain(self) -> str:
        """`4.93 ± 0.12`: a count such as steps."""
        return self._worded(f"{self.mean:.2f}", 1)

    def points(self) -> str:
        """`+0.51 ± 0.20`: a difference of two shares, in percentage points."""
        return self._worded(signed(100 * self.mean), 100)

    def change(self) -> str:
        """`+0.51 ± 0.20`: a difference of two counts, a slope or a correlation."""
        return self._worded(signed(self.mean), 1)

    def _worded(self, mean: str, scale: int) -> str:
        return mean if self.sd is None else f"{mean} {PLUS_MINUS} {scale * self.sd:.2f}"

    def over(self) -> str:
        """What the spread is over: `sd over 3 seeds`, or that there is none."""
        return "n = 1, no spread" if self.sd is None else f"sd over {self.n} seeds"


def paired(minuend: pd.DataFrame, subtrahend: pd.DataFrame, column: str = "accuracy") -> Spread:
    """Difference seed by seed: the two tables have one row for each of the same seeds."""
    ours, theirs = (t.set_index("seed")[column] for t in (minuend, subtrahend))
    return Spread.of([ours[seed] - theirs[seed] for seed in ours.index])


def by_seed(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Spread | None:
    """Ours minus theirs, seed by seed; None where they share none."""
    shared = [seed for seed in ours if seed in theirs]
    return Spread.of([ours[seed] - theirs[seed] for seed in shared]) if shared else None


def along(rows: pd.DataFrame, by: str, column: str) -> dict[int, Spread]:
    """The spread of a column by epoch or by step, the first one first; only where it is known."""
    known = rows.dropna(subset=[column])
    return {int(str(at)): Spread.of(of[column]) for at, of in known.groupby(by, sort=True)}


def plain(spread: Spread | None) -> str:
    """A count in a cell of a table, which may have none."""
    return DASH if spread is None else spread.plain()


def cells(spread: Spread | None) -> list[Cell]:
    """Mean and sd as two cells of a CSV file."""
    return [None, None] if spread is None else [spread.mean, spread.sd]


def follows(change: Spread, level: float = LEVEL) -> str:
    """How steps go with something, given their slope or correlation: `grow with`."""
    if not change.clear(level):
        return "do not clearly follow"
    return "grow with" if change.mean > 0 else "shrink with"


def holm_level(ps: Iterable[float]) -> float:
    """What a p-value among these must not exceed to be clear, with all of them at 5 % (Holm 1979).

    The smallest is held against 5 % divided by their number, the next by one less, and so on; from
    the first that fails on, none is clear.
    """
    ordered = sorted(ps)
    for place, p in enumerate(ordered):
        if p > (level := LEVEL / (len(ordered) - place)):
            return level
    return LEVEL


def t_quantile(freedom: float) -> float:
    """What 97.5 % of Student's t are below: 12.71 with one degree of freedom, 4.30 with two."""
    return float(stdtrit(freedom, 0.975))


def sampling_error(accuracy: float, pairs: int) -> float:
    """Binomial standard error of one run's accuracy on `pairs` test pairs."""
    return math.sqrt(accuracy * (1 - accuracy) / pairs)


def signed(value: float) -> str:
    """Two decimals with a sign; what rounds to nothing has none."""
    rounded = f"{abs(value):.2f}"
    if float(rounded) == 0:
        return rounded
    return f"{'+' if value > 0 else MINUS}{rounded}"


def whole(value: float) -> str:
    """No decimals; a sign below zero alone, and none where it rounds to nothing."""
    rounded = f"{abs(value):.0f}"
    return f"{MINUS}{rounded}" if value < 0 and rounded != "0" else rounded


def setting(cell: str) -> str:
    """A setting as a reader writes it: 5e-05 is 0.00005."""
    return format(Decimal(cell), "f") if "e" in cell and cell[0].isdigit() else cell


# The kinds of halting (an ending before one it ends with), and what no rule spells right.
KINDS = {name: kind.title for name, kind in HALTINGS.items()}
VARIANTS = {**KINDS, "as_published": "as published"}
SPELLED = {
    "Lstm": "LSTM",
    "Nti": "NTI",
    "Spinn Pi": "SPINN-PI",
    "Intra Attention": "Intra-Attention",
    "Word By Word": "Word-by-Word",
}


def title(model: str) -> str:
    """`adaptive_attention_dact` is Adaptive Attention, DACT."""
    for ending in sorted(VARIANTS, key=len, reverse=True):  # supervised_act ends like act
        if model.endswith(f"_{ending}"):
            return f"{title(model.removesuffix(f'_{ending}'))}, {VARIANTS[ending]}"
    words = model.replace("_", " ").title()
    for plain, spelled in SPELLED.items():
        words = words.replace(plain, spelled)
    return words
