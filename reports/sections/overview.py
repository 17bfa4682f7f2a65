"""The first screen: environment, main metrics, test accuracy by model, multi-hop results."""

from datetime import date
from typing import Any

import pandas as pd

from actmodels.registry import is_adaptive
from reports import format as fmt
from reports.blocks import Overview, Tile
from reports.load import Artifacts
from reports.sections.multihop import RUN, by_hops, correlations, multihop_charts
from reports.sections.table_1 import accuracy_chart, systems

SOLVED = 0.95  # minimum accuracy of a solved number of hops
GLOSSARY = {
    "ACT": "adaptive computation time: the model decides after each step whether to halt.",
    "Ponder cost": "the training penalty on the number of steps.",
    "Hop": "one fact in the chain from the object in the hypothesis to its location.",
}


def overview(data: Artifacts) -> Overview:
    """Return the overview."""
    sweep = data.documents["sweep/environment"]
    machine, code = sweep["machine"], sweep["provenance"]
    note = "" if fmt.on_all_of_snli(data) else ", not comparable with published results"
    environment = [
        f"{date.today():%Y-%m-%d}",
        f"Machine: {machine['cpu']}, {machine['cores']} cores, GPU {machine['gpu'] or 'none'}",
        f"Commit {code['git_commit'][:8]}",
        f"torch {code['torch_version']}, Ray {code['ray_version']}",
    ]
    charts = [accuracy_chart(data), *multihop_charts(data)]
    return Overview(
        f"Corpus: {fmt.corpus(data)}{note}", environment, _tiles(data), charts, GLOSSARY
    )


def metrics(data: Artifacts) -> dict[str, float]:
    """Return the numbers of the tiles; accuracies in [0, 1], of the best model on dev."""
    best, adaptive = _best(data)
    values: dict[str, float] = {
        "trials": len(data["sweep/trials"]),
        "dev_accuracy": float(best["dev_accuracy_mean"]),
        "test_accuracy": float(best["test_accuracy_mean"]),
    }
    if adaptive is not None:
        values["mean_steps"] = float(adaptive["test_mean_steps_mean"])
    if hops := _hops_solved(data):
        values["hops_solved"] = max(hops.values())
    return values


def _tiles(data: Artifacts) -> list[Tile]:
    best, adaptive = _best(data)
    accuracy = fmt.percent("test_accuracy")(best)
    tiles = [Tile("Test accuracy", f"{accuracy} %", fmt.model_name(best))]
    if adaptive is not None:
        steps = fmt.number("test_mean_steps")(adaptive)
        tiles.append(Tile("Mean steps per pair", steps, fmt.model_name(adaptive)))
    if hops := _hops_solved(data):
        frame = data["multihop/hops"]
        trained = frame.loc[frame["trained"], "hops"].max()
        r = correlations(data).set_index(RUN).loc[max(hops, key=hops.__getitem__), "r"]
        note = "" if pd.isna(r) else f", r(steps, hops) = {r:.2f}"
        tiles.append(
            Tile("Hops solved", f"{max(hops.values())}", f"trained on up to {trained}{note}")
        )
    sweep = data.documents["sweep/environment"]
    reused = f"{sweep['reused']:,} reused, {sweep['trials'] - sweep['reused']:,} run"
    return [*tiles, Tile("Sweep trials", f"{sweep['trials']:,}", volatile=reused)]


def _best(data: Artifacts) -> tuple[fmt.Row, fmt.Row | None]:
    """Return the best system on dev, and the best of the adaptive ones if there are any."""
    frame = systems(data).set_index("model", drop=False)
    adaptive = frame[frame["model"].isin(data.adaptive) & (frame["test_mean_steps_n"] > 0)]
    best = None if adaptive.empty else adaptive.loc[adaptive["dev_accuracy_mean"].idxmax()]
    return frame.loc[data.best_on_dev], best


def _hops_solved(data: Artifacts) -> dict[Any, int]:
    """Return the number of hops that each adaptive run solves."""
    frame = by_hops(data)
    frame = frame[[is_adaptive(str(model)) for model in frame["model"]]]
    if frame.empty:
        return {}
    solved = frame["accuracy_mean"].ge(SOLVED).groupby([frame[name] for name in RUN], sort=False)
    return {run: int(hops.cummin().sum()) for run, hops in solved}
