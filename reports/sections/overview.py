"""The first screen: environment, main metrics, test accuracy by model, multi-hop results."""

from datetime import date

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


def _tiles(data: Artifacts) -> list[Tile]:
    frame = systems(data).set_index("model", drop=False)
    best, accuracy = frame.loc[data.best_on_dev], fmt.percent("test_accuracy")
    tiles = [Tile("Test accuracy", f"{accuracy(best)} %", fmt.model_name(best))]
    adaptive = [model for model in data.adaptive if frame.loc[model, "test_mean_steps_n"] > 0]
    if adaptive:
        best = frame.loc[frame.loc[adaptive, "dev_accuracy_mean"].idxmax()]
        steps = fmt.number("test_mean_steps")(best)
        tiles.append(Tile("Mean steps per pair", steps, fmt.model_name(best)))
    tiles += _hops_solved(data)
    sweep = data.documents["sweep/environment"]
    reused = f"{sweep['reused']:,} reused, {sweep['trials'] - sweep['reused']:,} run"
    return [*tiles, Tile("Sweep trials", f"{sweep['trials']:,}", volatile=reused)]


def _hops_solved(data: Artifacts) -> list[Tile]:
    """Return the number of hops that the best adaptive run solves, and its r(steps, hops)."""
    frame = by_hops(data)
    frame = frame[[is_adaptive(str(model)) for model in frame["model"]]]
    if frame.empty:
        return []
    solved = (frame["accuracy_mean"] >= SOLVED).groupby([frame[name] for name in RUN], sort=False)
    counts = solved.apply(lambda hops: hops.cummin().sum())
    run = counts.idxmax()
    r = correlations(data).set_index(RUN).loc[run, "r"]
    trained = frame.loc[frame["trained"], "hops"].max()
    note = "" if pd.isna(r) else f", r(steps, hops) = {r:.2f}"
    return [Tile("Hops solved", f"{counts.max()}", f"trained on up to {trained}{note}")]
