"""The first screen: the run, four numbers, test accuracy by model, accuracy and steps by hops."""

from datetime import date

import pandas as pd

from reports.blocks import Overview, Tile
from reports.format import corpus, number, on_all_of_snli, percent, title
from reports.load import Artifacts, adapts
from reports.sections.multihop import by_hops, correlations, multihop_charts
from reports.sections.table_1 import accuracy_chart, systems

SOLVED = 0.95  # accuracy from which on a number of hops counts as solved
GLOSSARY = {
    "ACT": "adaptive computation time: the model decides after each step whether to go on.",
    "Ponder cost": "what training charges for each step, so that a model takes few.",
    "Hop": "one fact that leads from the thing in the hypothesis toward its place.",
}


def overview(data: Artifacts) -> Overview:
    """Return the first screen."""
    environment = data.documents["sweep/environment"]
    machine, code = environment["machine"], environment["provenance"]
    note = "" if on_all_of_snli(data) else ", not comparable with published results"
    run = [
        f"{date.today():%Y-%m-%d}",
        f"Machine: {machine['cpu']}, {machine['cores']} cores, GPU {machine['gpu'] or 'none'}",
        f"Commit {code['git_commit'][:8]}",
        f"torch {code['torch_version']}, Ray {code['ray_version']}",
    ]
    charts = [accuracy_chart(data), *multihop_charts(data)]
    return Overview(f"Corpus: {corpus(data)}{note}", run, [*_tiles(data)], charts, GLOSSARY)


def _tiles(data: Artifacts) -> list[Tile]:
    frame = systems(data).set_index("model", drop=False)
    best = frame.loc[data.best_on_dev]
    found = [Tile("Test accuracy", f"{percent('test_accuracy')(best)} %", title(best["model"]))]
    stepping = [model for model in data.adaptive if frame.loc[model, "test_mean_steps_n"] > 0]
    if stepping:
        most = frame.loc[frame.loc[stepping, "dev_accuracy_mean"].idxmax()]  # the best on dev
        found.append(Tile("Steps per pair", number("test_mean_steps")(most), title(most["model"])))
    if (hops := _hops_solved(data)) is not None:
        found.append(hops)
    environment = data.documents["sweep/environment"]
    reused = (
        f"{environment['reused']:,} reused, {environment['trials'] - environment['reused']:,} run"
    )
    found.append(Tile("Trials of the sweep", f"{environment['trials']:,}", run=reused))
    return found


def _hops_solved(data: Artifacts) -> Tile | None:
    """Return how many hops the best adaptive model solves, and whether its steps follow them."""
    frame = by_hops(data)
    frame = frame[[adapts(str(model)) for model in frame["model"]]]
    if frame.empty:
        return None
    right = frame.assign(solved=frame["accuracy_mean"] >= SOLVED)
    counts = right.groupby(["model", "run"], sort=False)["solved"].apply(
        lambda of: of.cummin().sum()
    )
    model, run = counts.idxmax()
    r = correlations(data).set_index(["model", "run"]).loc[(model, run), "r"]
    trained = frame.loc[frame["trained"], "hops"].max()
    said = "" if pd.isna(r) else f", r of steps and hops {r:.2f}"
    return Tile("Hops solved", f"{counts.max()}", f"trained on up to {trained}{said}")
