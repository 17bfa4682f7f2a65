"""What goes with the length of sentences, and with the depth that a corpus records."""

from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from reports.blocks import DASH, Table
from reports.spread import Spread, follows, paired, plain, title
from reports.stored.artefacts import Artefacts

AGAINST = {"mean_length": "mean sentence length", "depth": "recorded depth"}
# What the depth of a corpus counts: only what waits for one another asks for steps in a row.
COUNTED = {
    "captions": (
        "Depth counts the facts of a hypothesis. They stand side by side, and alignment compares "
        "them all before the first step, so steps need not grow with it."
    ),
    "chains": (
        "Depth counts the links that a hypothesis needs one after another: a model that follows "
        "them step by step takes more steps on deeper pairs."
    ),
}


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
        Correlation(
            model=model,
            against=str(what),
            seeds=len(of),
            defined=len(of.dropna(subset=["pearson", "spearman"])),
            pearson=Spread.known(of["pearson"]),
            spearman=Spread.known(of["spearman"]),
        )
        for what, of in rows.groupby("steps_against", sort=False)
    ]


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
    told = [_told(c, artefacts.level) for c in found]
    unrecorded = "" if any(c.against == "depth" for c in found) else " The corpus records no depth."
    return f"{title(model)}: steps {' and '.join(told)}.{unrecorded}"


def _told(found: Correlation, level: float) -> str:
    r, what = found.pearson, AGAINST[found.against]
    if r is None:
        return f"are the same for every pair, whatever its {what}"
    share = f"{100 * r.mean**2:.1f} % of their variance"
    return f"{follows(r, level)} {what} (Pearson's r {r.change()}, {r.over()}; {share})"


def joint_counts(artefacts: Artefacts, model: str) -> pd.DataFrame:
    """Test pairs of all seeds by steps (rows) and mean sentence length (columns).

    A column holds the lengths from its number of tokens up to the next.
    """
    rows = artefacts.lengths[artefacts.lengths["model"] == model]
    steps, lengths = rows["steps"].astype(int), rows["mean_length"].astype(int)
    counts = rows["pairs"].groupby([steps, lengths]).sum().unstack(fill_value=0)
    whole = (range(min(part), max(part) + 1) for part in (list(steps), list(lengths)))
    return counts.reindex(index=next(whole), columns=next(whole), fill_value=0)


def depth_note(artefacts: Artefacts) -> str:
    """What depth counts, and whether steps should grow with it; empty if that is not known."""
    return COUNTED.get(str(artefacts.corpus["source"]), "")


def asks_for_steps(artefacts: Artefacts) -> bool:
    """Whether steps should grow with the depth that the corpus records."""
    return bool(artefacts.corpus["source"] == "chains")


class AtDepth(NamedTuple):
    """A model on the test pairs of one depth, over the seeds; steps are mean steps, or None."""

    depth: int
    pairs: int
    accuracy: Spread
    steps: Spread | None


def by_depths(artefacts: Artefacts, model: str) -> list[AtDepth]:
    """A model at each depth, shallow first."""
    rows = artefacts.depth[artefacts.depth["model"] == model]
    return [
        AtDepth(
            depth=int(str(depth)),
            pairs=int(of["pairs"].iloc[0]),
            accuracy=Spread.of(of["accuracy"]),
            steps=Spread.of(of["mean_steps"]) if of["mean_steps"].notna().all() else None,
        )
        for depth, of in rows.groupby("depth", sort=True)
    ]


def depth_models(artefacts: Artefacts) -> tuple[str, ...]:
    """The models with figures by depth, in stored order."""
    return tuple(dict.fromkeys(artefacts.depth["model"]))


def depth_table(artefacts: Artefacts) -> Table:
    """A column per depth; rows of each model's accuracy, and steps where it takes any."""
    models = depth_models(artefacts)
    depths = {at.depth: at.pairs for model in models for at in by_depths(artefacts, model)}
    header = ["model", "figure", *(f"depth {at} ({depths[at]:,} pairs)" for at in sorted(depths))]
    rows = []
    for model in models:
        found = {at.depth: at for at in by_depths(artefacts, model)}
        here = [found.get(depth) for depth in sorted(depths)]
        accuracies = [DASH if at is None else at.accuracy.percent() for at in here]
        rows.append([title(model), "accuracy, %", *accuracies])
        taken = [DASH if at is None else plain(at.steps) for at in here]
        if any(steps != DASH for steps in taken):
            rows.append([title(model), "mean steps", *taken])
    return Table(header, rows, left=2)


def depth_sentence(artefacts: Artefacts, model: str) -> str:
    """Whether a halting model takes more steps where the corpus asks for more reasoning."""
    taken = by_depths(artefacts, model)
    if len(taken) < 2 or any(at.steps is None for at in taken):
        return ""
    rows = artefacts.depth[artefacts.depth["model"] == model]
    shallow, deep = taken[0].depth, taken[-1].depth
    few, many = rows[rows["depth"] == shallow], rows[rows["depth"] == deep]
    change = paired(many, few, "mean_steps")
    what = "does not clearly take more steps"
    if change.clear(artefacts.level):
        what = f"takes {'more' if change.mean > 0 else 'fewer'} steps"
    return (
        f"{title(model)} {what} on the deepest pairs than on the shallowest: "
        f"{Spread.of(many['mean_steps']).plain()} at depth {deep} against "
        f"{Spread.of(few['mean_steps']).plain()} at depth {shallow} ({change.over()})."
    )
