"""Multi-hop inference: accuracy and steps of each run by number of hops."""

from dataclasses import dataclass

import pandas as pd

from actmodels.registry import MODELS
from reports.blocks import DASH, Table
from reports.findings import counted
from reports.spread import Spread, plain, signed, title
from reports.stored.artefacts import Artefacts

CAPTION = (
    "A hop is one fact that leads from the thing in the hypothesis toward its room. "
    "ACT (adaptive computation time) lets the model choose its number of steps for each pair."
)


@dataclass(frozen=True)
class Run:
    """A model with its settings; each `Spread` is over seeds, on test pairs.

    accuracy, steps: number of hops -> accuracy in [0, 1], mean steps; no steps: an empty mapping.
    trained_accuracy, trained_steps: over the pairs of all trained depths.
    untrained_accuracy: over the pairs of all untrained depths; None without such a depth.
    correlations: Pearson's r of steps and hops of each seed that has one.
    """

    model: str
    settings: str
    seeds: int
    accuracy: dict[int, Spread]
    steps: dict[int, Spread]
    trained_accuracy: Spread
    trained_steps: Spread | None
    untrained_accuracy: Spread | None
    correlations: tuple[float, ...]

    @property
    def name(self) -> str:
        """Return model and settings: `Hop Attention, ACT, ponder_weight 0.001`."""
        return f"{model_name(self.model)}, {self.settings}"

    @property
    def correlation(self) -> Spread | None:
        """Return the correlation over seeds."""
        return Spread.of(self.correlations) if self.correlations else None


def model_name(model: str) -> str:
    """Return the title of a model with its halting mechanism."""
    name, halting = title(model), MODELS[model].halting if model in MODELS else None
    return name if halting is None or name.endswith(halting.title) else f"{name}, {halting.title}"


def trained_hops(artefacts: Artefacts) -> int:
    """Return the largest number of hops in training."""
    return int(artefacts.multihop_hops.query("trained")["hops"].max())


def all_hops(artefacts: Artefacts) -> list[int]:
    """Return the numbers of hops in the test split, in ascending order."""
    return sorted(map(int, artefacts.multihop_hops["hops"].unique()))


def multihop_runs(artefacts: Artefacts) -> list[Run]:
    """Return all runs in stored order."""
    by, hops = ["model", "run"], artefacts.multihop_hops
    return [
        _run(str(model), str(run), results, hops[(hops["model"] == model) & (hops["run"] == run)])
        for (model, run), results in artefacts.multihop.groupby(by, sort=False)
    ]


def _run(model: str, run: str, results: pd.DataFrame, hops: pd.DataFrame) -> Run:
    stepping = hops["mean_steps"].notna().all()
    each = [(int(str(at)), rows) for at, rows in hops.groupby("hops", sort=True)]
    trained, untrained = hops[hops["trained"]], hops[~hops["trained"]]
    return Run(
        model=model,
        settings=run,
        seeds=len(results),
        accuracy={at: Spread.of(rows["accuracy"]) for at, rows in each},
        steps={at: Spread.of(rows["mean_steps"]) for at, rows in each} if stepping else {},
        trained_accuracy=_over_pairs(trained, "accuracy"),
        trained_steps=_over_pairs(trained, "mean_steps") if stepping else None,
        untrained_accuracy=None if untrained.empty else _over_pairs(untrained, "accuracy"),
        correlations=tuple(map(float, results["correlation"].dropna())),
    )


def _over_pairs(rows: pd.DataFrame, column: str) -> Spread:
    """Average a column over the pairs of each seed, then over seeds."""
    sums = (rows[column] * rows["pairs"]).groupby(rows["seed"]).sum()
    return Spread.of(sums / rows["pairs"].groupby(rows["seed"]).sum())


def multihop_table(artefacts: Artefacts) -> Table:
    """Return a table with one row per run."""
    hops, last = all_hops(artefacts), trained_hops(artefacts)
    ends = sorted({hops[0], last})
    header = ["run", "seeds"]
    header += [f"{counted(at, 'hop')}{'' if at <= last else ', untrained'}, %" for at in hops]
    header += [f"mean steps at {counted(at, 'hop')}" for at in ends]
    header += ["r of steps and hops, mean (min to max)"]
    rows = []
    for run in multihop_runs(artefacts):
        row = [run.name, str(run.seeds)]
        row += [run.accuracy[at].percent() if at in run.accuracy else DASH for at in hops]
        row += [plain(run.steps.get(at)) for at in ends]
        rows.append([*row, _correlation(run)])
    return Table(header, rows)


def _correlation(run: Run) -> str:
    if run.correlation is None:
        return DASH
    low, high = min(run.correlations), max(run.correlations)
    return f"{signed(run.correlation.mean)} ({signed(low)} to {signed(high)})"
