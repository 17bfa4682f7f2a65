"""What was found, claim by claim: each with its figure, its n, its test, and what was published."""

from collections.abc import Iterator
from typing import NamedTuple

from actmodels.rows.pairs import Paired
from reports.blocks import DASH, Cell, Table, csv_text
from reports.findings import counted, featured_halting, p_value
from reports.published import PAPER_BY_STEPS, PUBLISHED_PAIRS, published_accuracy
from reports.spread import Interval, Spread, holm_level, signed, title
from reports.stored.artefacts import Artefacts
from reports.studies.fidelity import fidelity_models, variants
from reports.tables.ablation import FIXED, best_fixed
from reports.tables.length_and_depth import AGAINST, asks_for_steps, correlations
from reports.tables.step_habits import certainty_gap, label_gap

NO_DIFFERENCE = "no clear difference"


class Comparison(Paired):
    """A model against the reference."""

    @property
    def gap(self) -> Interval:
        """Of test accuracies, over seeds and pairs."""
        return Interval(self.difference, self.low, self.high, self.p)

    @property
    def over(self) -> str:
        """`3 seeds, 100 pairs`."""
        return f"{counted(self.seeds, 'seed')}, {self.pairs:,} pairs"


def comparisons(artefacts: Artefacts) -> list[Comparison]:
    """All of them in stored order: retrained models, then the lexicalised classifier."""
    rows = artefacts.paired.astype({"p": object}).where(artefacts.paired.notna(), None)
    return [Comparison(**dict(row)) for _, row in rows.iterrows()]


class Claim(NamedTuple):
    """One line of the table.

    figure: differences in percentage points, correlations as such. over: what it is over.
    found: the same, with its interval and p. nothing: what is said of it if it is not clear.
    published: the same figure as others printed it, on all of SNLI; empty if nobody did.
    """

    what: str
    figure: str
    over: str
    found: Interval
    nothing: str = "not clear"
    published: str = ""

    def verdict(self, level: float) -> str:
        """Whether it is clear at a level."""
        if self.found.p is None:
            return "one seed: no spread"
        if not self.found.clear(level):
            return self.nothing
        return "clearly above" if self.found.mean > 0 else "clearly below"


def claims_level(artefacts: Artefacts) -> float:
    """At which p-value a claim is clear, with 5 % for all of the report's claims together."""
    ps = [claim.found.p for claim in claims(artefacts, published=False)]
    return holm_level(p for p in ps if p is not None)


def claims(artefacts: Artefacts, published: bool) -> list[Claim]:
    """All that the artefacts allow, the paper's own claims first."""
    found = [
        *_between_models(artefacts),
        *_against_fixed(artefacts),
        *_deviations(artefacts),
        *_steps(artefacts),
    ]
    return found if published else [claim._replace(published="") for claim in found]


def _between_models(artefacts: Artefacts) -> Iterator[Claim]:
    for c in comparisons(artefacts):
        pair = PUBLISHED_PAIRS.get((c.model, c.reference))
        yield Claim(
            f"{title(c.model)} minus {title(c.reference)}",
            f"{c.gap.points()} points",
            c.over,
            c.gap,
            NO_DIFFERENCE,
            "" if pair is None else _difference(*map(published_accuracy, pair)),
        )


def _against_fixed(artefacts: Artefacts) -> Iterator[Claim]:
    """Adaptive halting against the number of steps that is best on dev."""
    if artefacts.ablated is None:
        return
    for reading, kind in FIXED.items():
        if (best := best_fixed(artefacts, reading)) is None:
            continue
        paper = PAPER_BY_STEPS.get(best.steps)
        adaptive = PAPER_BY_STEPS[None]
        yield Claim(
            f"{title(artefacts.ablated)}: adaptive halting minus "
            f"{kind.label.replace('k steps', f'{best.steps} steps')}",
            f"{best.gain.points()} points",
            f"{counted(best.seeds, 'seed')}, {best.pairs:,} pairs",
            best.gain,
            NO_DIFFERENCE,
            "" if paper is None else _difference(adaptive, paper),
        )


def _deviations(artefacts: Artefacts) -> Iterator[Claim]:
    """What the 2016 code's deviations cost."""
    for model in fidelity_models(artefacts):
        first, *others = variants(artefacts, model)
        for v in others:
            yield Claim(
                f"{title(model)}: {v.name} minus {first.name}",
                f"{v.difference.points()} points",
                f"{counted(v.test.n, 'seed')}, {v.pairs:,} pairs",
                v.difference,
                NO_DIFFERENCE,
            )


def _steps(artefacts: Artefacts) -> Iterator[Claim]:
    for model in featured_halting(artefacts):
        if (gap := label_gap(artefacts, model)) is not None:
            what = "steps on contradictions minus on entailments"
            yield _over_seeds(f"{title(model)}: {what}", f"{gap.change()} steps", gap)
        gap = certainty_gap(artefacts, model)
        what = "accuracy in the fifth of pairs with the most steps minus the fewest"
        yield _over_seeds(f"{title(model)}: {what}", f"{gap.points()} points", gap)
        for c in correlations(artefacts, model):
            if c.pearson is None or (c.against == "depth" and not asks_for_steps(artefacts)):
                continue
            what = f"correlation of steps with {AGAINST[c.against]}"
            yield _over_seeds(f"{title(model)}: {what}", f"r = {c.pearson.change()}", c.pearson)


def _over_seeds(what: str, figure: str, found: Spread) -> Claim:
    return Claim(what, figure, counted(found.n, "seed"), found.interval)


def _difference(one: float, other: float) -> str:
    return f"{signed(one - other)} ({one:.1f} against {other:.1f})"


def claims_table(artefacts: Artefacts, published: bool) -> Table:
    """The claims as markdown."""
    header = ["claim", "verdict", "measured on test", "n", "p"]
    header += ["published, SNLI"] if published else []
    rows = []
    for claim in claims(artefacts, published):
        verdict, p = claim.verdict(artefacts.level), p_value(claim.found.p)
        row = [claim.what, verdict, claim.figure, claim.over, p]
        rows.append([*row, claim.published or DASH] if published else row)
    return Table(header, rows, left=2)


def claims_note() -> str:
    """How to read the table."""
    return (
        "Figures with brackets have a 95 % interval by Student's t over seeds and test pairs, "
        "those of one premise together (paired by test pair, and by seed within one model). "
        "Figures with ± are means and sample standard deviations over seeds, and their *p* is by "
        "Student's t over seeds alone. A claim is called clear, here and in the text, if its *p* "
        "holds at 5 % for all claims of this table together (Holm 1979), which asks for more than "
        "that its own interval leaves out zero. Nothing is clear from one seed."
    )


def claims_csv(artefacts: Artefacts, published: bool) -> str:
    """The same lines for those who compare two runs of the report."""
    rows: list[list[Cell]] = [
        [c.what, c.figure, c.over, c.found.p, c.verdict(artefacts.level), c.published]
        for c in claims(artefacts, published)
    ]
    return csv_text(["claim", "measured", "n", "p", "verdict", "published"], rows)
