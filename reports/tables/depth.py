"""Accuracy and steps by the depth that a corpus records for its pairs."""

import pandas as pd

from reports.markdown import DASH, Table
from reports.spread import Spread, paired, title
from reports.stored.artefacts import Artefacts

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


def depth_note(artefacts: Artefacts) -> str:
    """What depth counts, and whether steps should grow with it; empty if that is not known."""
    return COUNTED.get(str(artefacts.corpus["source"]), "")


def asks_for_steps(artefacts: Artefacts) -> bool:
    """Whether steps should grow with the depth that the corpus records."""
    return bool(artefacts.corpus["source"] == "chains")


def by_depth(artefacts: Artefacts, model: str) -> list[tuple[int, int, Spread, Spread | None]]:
    """(depth, pairs, accuracy, mean steps or None) over the seeds, shallow first."""
    rows = artefacts.depth[artefacts.depth["model"] == model]
    return [_at(int(str(depth)), group) for depth, group in rows.groupby("depth", sort=True)]


def _at(depth: int, rows: pd.DataFrame) -> tuple[int, int, Spread, Spread | None]:
    steps = Spread.of(rows["mean_steps"]) if rows["mean_steps"].notna().all() else None
    return depth, int(rows["pairs"].iloc[0]), Spread.of(rows["accuracy"]), steps


def depth_models(artefacts: Artefacts) -> tuple[str, ...]:
    """The models with figures by depth, in stored order."""
    return tuple(dict.fromkeys(artefacts.depth["model"]))


def depth_table(artefacts: Artefacts) -> Table:
    """A column per depth; rows of each model's accuracy, and steps where it takes any."""
    models = depth_models(artefacts)
    depths = {at: pairs for model in models for at, pairs, *_ in by_depth(artefacts, model)}
    header = ["model", "figure", *(f"depth {at} ({depths[at]:,} pairs)" for at in sorted(depths))]
    rows = []
    for model in models:
        found = {at: (accuracy, steps) for at, _, accuracy, steps in by_depth(artefacts, model)}
        here = [found.get(at) for at in sorted(depths)]
        accuracies = [DASH if cell is None else cell[0].percent() for cell in here]
        rows.append([title(model), "accuracy, %", *accuracies])
        taken = [DASH if cell is None or cell[1] is None else cell[1].plain() for cell in here]
        if any(steps != DASH for steps in taken):
            rows.append([title(model), "mean steps", *taken])
    return Table(header, rows, left=2)


def depth_sentence(artefacts: Artefacts, model: str) -> str:
    """Whether a halting model takes more steps where the corpus asks for more reasoning."""
    taken = by_depth(artefacts, model)
    if len(taken) < 2 or any(steps is None for *_, steps in taken):
        return ""
    rows = artefacts.depth[artefacts.depth["model"] == model]
    shallow, deep = taken[0][0], taken[-1][0]
    few, many = rows[rows["depth"] == shallow], rows[rows["depth"] == deep]
    change = paired(many, few, "mean_steps")
    what = "does not clearly take more steps"
    if change.clear:
        what = f"takes {'more' if change.mean > 0 else 'fewer'} steps"
    return (
        f"{title(model)} {what} on the deepest pairs than on the shallowest: "
        f"{Spread.of(many['mean_steps']).plain()} at depth {deep} against "
        f"{Spread.of(few['mean_steps']).plain()} at depth {shallow} ({change.over()})."
    )
