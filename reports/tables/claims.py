"""What was found, claim by claim: each with its figure, its n, its test, and what was published."""

from collections.abc import Iterator
from typing import NamedTuple

from actmodels.rows.pairs import Paired
from reports.blocks import DASH, Cell, Table, csv_text
from reports.findings import counted, featured_halting, p_value
from reports.published import PAPER_BY_STEPS, PUBLISHED_PAIRS, published_accuracy
from reports.spread import Interval, Spread, signed, title
from reports.stored.artefacts import Artefacts
from reports.studies.fidelity import TOGETHER, fidelity_models, variants
from reports.tables.ablation import FIXED, best_fixed
from reports.tables.length_and_depth import AGAINST, asks_for_steps, correlations
from reports.tables.step_habits import certainty_gap, label_gap


class Comparison(Paired):
    """A model against the reference; largest_p is that of McNemar's exact tests, one per seed."""

    @property
    def gap(self) -> Interval:
        """Of test accuracies, with the 95 % interval of the paired bootstrap by seed and pair."""
        return Interval(self.difference, self.low, self.high, self.seeds)

    @property
    def over(self) -> str:
        """`3 seeds, 100 pairs`."""
        return f"{counted(self.seeds, 'seed')}, {self.pairs:,} pairs"


def comparisons(artefacts: Artefacts) -> list[Comparison]:
    """All of them in stored order: retrained models, then the lexicalised classifier."""
    return [Comparison(**dict(row)) for _, row in artefacts.paired.iterrows()]


class Claim(NamedTuple):
    """One line of the table.

    figure: differences in percentage points, correlations as such.
    p: the largest of McNemar's tests, one per seed; None where none was made.
    published: the same figure as others printed it, on all of SNLI; empty if nobody did.
    """

    what: str
    figure: str
    over: str
    p: float | None
    verdict: str
    published: str


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
            c.largest_p,
            _interval_verdict(c.gap),
            "" if pair is None else _difference(*map(published_accuracy, pair)),
        )


def _against_fixed(artefacts: Artefacts) -> Iterator[Claim]:
    """Adaptive halting against the number of steps that is best on dev."""
    if artefacts.ablated is None:
        return
    for reading, kind in FIXED.items():
        point = best_fixed(artefacts, reading)
        if point is None or point.gain is None:
            continue
        paper = PAPER_BY_STEPS.get(point.steps)
        adaptive = PAPER_BY_STEPS[None]
        yield Claim(
            f"{title(artefacts.ablated)}: adaptive halting minus "
            f"{kind.label.replace('k steps', f'{point.steps} steps')}",
            f"{point.gain.points()} points",
            counted(point.gain.n, "seed"),
            None,
            _spread_verdict(point.gain),
            "" if paper is None else _difference(adaptive, paper),
        )


def _deviations(artefacts: Artefacts) -> Iterator[Claim]:
    """What the 2016 code's deviations cost: all together where that was measured, else each."""
    for model in fidelity_models(artefacts):
        first, *others = variants(artefacts, model)
        together = [v for v in others if v.name == TOGETHER]
        for v in together or others:
            yield Claim(
                f"{title(model)}: {v.name} minus {first.name}",
                f"{v.difference.points()} points",
                f"{counted(v.test.n, 'seed')}, {v.pairs:,} pairs",
                v.largest_p,
                _interval_verdict(v.difference),
                "",
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
    return Claim(what, figure, counted(found.n, "seed"), None, _spread_verdict(found), "")


def _interval_verdict(found: Interval) -> str:
    if not found.clear:
        return "no clear difference" if found.seeds > 1 else "one seed: no spread"
    return "clearly above" if found.above else "clearly below"


def _spread_verdict(found: Spread) -> str:
    if not found.clear:
        return "not clear" if found.sd is not None else "one seed: no spread"
    return "clearly above 0" if found.mean > 0 else "clearly below 0"


def _difference(one: float, other: float) -> str:
    return f"{signed(one - other)} ({one:.1f} against {other:.1f})"


def claims_table(artefacts: Artefacts, published: bool) -> Table:
    """The claims as markdown."""
    header = ["claim", "verdict", "measured on test", "n", "largest p"]
    header += ["published, SNLI"] if published else []
    rows = []
    for claim in claims(artefacts, published):
        p = DASH if claim.p is None else p_value(claim.p)
        row = [claim.what, claim.verdict, claim.figure, claim.over, p]
        rows.append([*row, claim.published or DASH] if published else row)
    return Table(header, rows, left=2)


def claims_note() -> str:
    """How to read the table."""
    return (
        "Figures with brackets have a 95 % interval of a bootstrap over seeds and test pairs, "
        "paired by test pair (and by seed for variants of one model), and are called clear if it "
        "leaves out zero; over few seeds it is rather too narrow than too wide. Figures with ± are "
        "means and sample standard deviations over seeds, and are called clear if the 95 % "
        "interval of the mean, by Student's t, leaves out zero. Nothing is clear from one seed. "
        "*Largest p* is that of McNemar's exact test, one per seed. Nothing is corrected for the "
        "number of claims."
    )


def claims_csv(artefacts: Artefacts, published: bool) -> str:
    """The same lines for those who compare two runs of the report."""
    rows: list[list[Cell]] = [list(claim) for claim in claims(artefacts, published)]
    return csv_text(["claim", "measured", "n", "largest_p", "verdict", "published"], rows)
