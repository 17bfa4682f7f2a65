"""Accuracy and steps by the reasoning depth that a corpus records for its pairs."""

import pandas as pd

from reports.artefacts import Artefacts
from reports.markdown import markdown_table
from reports.spread import Spread, paired, title


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


def depth_table(artefacts: Artefacts) -> str:
    """One row per depth: pairs, each model's accuracy, each halting model's steps."""
    models = depth_models(artefacts)
    header = ["depth", "test pairs"]
    cells: dict[int, list[str]] = {}
    for model in models:
        rows = by_depth(artefacts, model)
        halts = all(steps is not None for *_, steps in rows)
        header.append(f"{title(model)}: accuracy, %")
        header += [f"{title(model)}: mean steps"] if halts else []
        for depth, pairs, accuracy, steps in rows:
            row = cells.setdefault(depth, [str(depth), f"{pairs:,}"])
            row.append(accuracy.percent())
            row += [steps.plain()] if halts and steps is not None else []
    return markdown_table(header, [cells[depth] for depth in sorted(cells)])


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
