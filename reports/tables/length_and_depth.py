"""Accuracy and steps by the depth that a corpus records, and by the length of sentences."""

from dataclasses import dataclass
from typing import NamedTuple

from reports.blocks import DASH, Table
from reports.spread import Spread, paired, plain, title
from reports.stored.artefacts import Artefacts

AGAINST = {"depth": "recorded depth", "mean_length": "mean sentence length"}


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


def depth_table(artefacts: Artefacts) -> Table:
    """Return accuracy and mean steps of each model by depth, and the correlations of its steps."""
    found = {
        model: {at.depth: at for at in by_depths(artefacts, model)} for model in artefacts.models
    }
    depths = {at.depth: at.pairs for by in found.values() for at in by.values()}
    header = ["model", "figure", *(f"depth {at} ({depths[at]:,} pairs)" for at in sorted(depths))]
    header += [f"Pearson's r with {what}" for what in AGAINST.values()]
    rows = []
    for model, by in found.items():
        here = [by.get(depth) for depth in sorted(depths)]
        if by:
            accuracies = [DASH if at is None else at.accuracy.percent() for at in here]
            rows.append([title(model), "accuracy, %", *accuracies, *[DASH] * len(AGAINST)])
        taken = [DASH if at is None else plain(at.steps) for at in here]
        rs = {c.against: _correlation(c) for c in correlations(artefacts, model)}
        if rs or any(steps != DASH for steps in taken):
            each = [rs.get(against, DASH) for against in AGAINST]
            rows.append([title(model), "mean steps", *taken, *each])
    return Table(header, rows, left=2)


def _correlation(found: Correlation) -> str:
    """Return r over seeds, with the number of seeds that have one where some have none."""
    if found.pearson is None:
        return DASH
    some = "" if found.defined == found.seeds else f" ({found.defined} of {found.seeds} seeds)"
    return f"{found.pearson.change()}{some}"


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
