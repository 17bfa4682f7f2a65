"""What the steps of a model go with: sentence length and recorded depth (thesis figure 6.5)."""

from dataclasses import dataclass

import pandas as pd

from reports.markdown import DASH, Table
from reports.spread import Spread, follows, title
from reports.stored.artefacts import Artefacts

AGAINST = {"mean_length": "mean sentence length", "depth": "recorded depth"}


@dataclass(frozen=True)
class Correlation:
    """Steps of a model against something, over test pairs; spreads are over seeds.

    defined: seeds with a correlation: there is none where steps never change.
    """

    model: str
    against: str
    seeds: int
    defined: int
    pearson: Spread | None
    spearman: Spread | None


def correlations(artefacts: Artefacts, model: str) -> list[Correlation]:
    """All correlations of a model's steps, in stored order; none if it does not choose them."""
    rows = artefacts.correlations[artefacts.correlations["model"] == model]
    if not artefacts.adapts(model):
        return []
    return [
        _correlation(model, str(what), group)
        for what, group in rows.groupby("steps_against", sort=False)
    ]


def _correlation(model: str, against: str, rows: pd.DataFrame) -> Correlation:
    found = rows.dropna(subset=["pearson", "spearman"])
    spreads = [None if found.empty else Spread.of(found[c]) for c in ("pearson", "spearman")]
    return Correlation(model, against, len(rows), len(found), *spreads)


def correlation_table(artefacts: Artefacts) -> Table:
    """One row per model and what its steps are compared with."""
    header = ["model", "steps against", "seeds", "Pearson's r", "Spearman's rho"]
    rows = []
    for model in artefacts.models:
        for c in correlations(artefacts, model):
            seeds = str(c.seeds) if c.defined == c.seeds else f"{c.seeds} ({c.defined} defined)"
            figures = [DASH if s is None else s.change() for s in (c.pearson, c.spearman)]
            rows.append([title(model), AGAINST[c.against], seeds, *figures])
    return Table(header, rows, left=2)


def correlation_note(artefacts: Artefacts) -> str:
    """What a correlation is over, and what the figures add up."""
    pairs = int(artefacts.correlations["pairs"].iloc[0])
    return (
        f"Correlations are over {pairs:,} test pairs within each seed, then mean ± sd over seeds; "
        "there is none for a seed whose steps are the same for every pair. Length is the mean of "
        "the tokens of premise and hypothesis. A figure adds up the pairs of all seeds."
    )


def correlation_sentence(artefacts: Artefacts, model: str) -> str:
    """Whether steps follow length and recorded depth, and how much of their variance each tells.

    The share of variance is r squared.
    """
    found = correlations(artefacts, model)
    told = [_told(c) for c in found]
    unrecorded = "" if any(c.against == "depth" for c in found) else " The corpus records no depth."
    return f"{title(model)}: steps {' and '.join(told)}.{unrecorded}"


def _told(found: Correlation) -> str:
    r, what = found.pearson, AGAINST[found.against]
    if r is None:
        return f"are the same for every pair, whatever its {what}"
    share = f"{100 * r.mean**2:.1f} % of their variance"
    return f"{follows(r)} {what} (Pearson's r {r.change()}, {r.over()}; {share})"


def joint_counts(artefacts: Artefacts, model: str) -> pd.DataFrame:
    """Test pairs of all seeds by steps (rows) and mean sentence length (columns).

    A column holds the lengths from its number of tokens up to the next.
    """
    rows = artefacts.lengths[artefacts.lengths["model"] == model]
    steps, lengths = rows["steps"].astype(int), rows["mean_length"].astype(int)
    counts = rows["pairs"].groupby([steps, lengths]).sum().unstack(fill_value=0)
    whole = (range(min(part), max(part) + 1) for part in (list(steps), list(lengths)))
    return counts.reindex(index=next(whole), columns=next(whole), fill_value=0)
