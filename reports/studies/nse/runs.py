"""Readers of cloze questions (Munkhdalai & Yu 2017): accuracy and steps of each way to answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from actmodels.rows.readers import Baseline
from reports.blocks import DASH, Cell, Table, csv_text
from reports.findings import p_value
from reports.spread import Interval, Spread, along, cells, plain
from reports.stored.artefacts import Artefacts
from reports.studies.nse.published import GATING, KINDS, PAPER, READERS, STRATEGIES, Setting

RANDOM, FREQUENT = "random candidate", "most frequent candidate"
OURS = "this project"


@dataclass(frozen=True)
class Run:
    """One way to answer questions, over its seeds; accuracies in [0, 1].

    steps: the most it takes. mean_steps: on test; None where every seed diverged.
    sd_steps: between dev questions, over seeds; None where it was not measured.
    tests: test accuracies seed by seed.
    difference: its test accuracy minus the first run's, with a 95 % interval, over `pairs`
        questions.
    gap: dev minus test accuracy. fit: training minus dev accuracy at the best epoch, if known.
    """

    name: str
    strategy: str
    steps: int
    dev: Spread
    test: Spread
    tests: tuple[float, ...]
    mean_steps: Spread | None
    sd_steps: Spread | None
    parameters: int
    diverged: int
    difference: Interval
    pairs: int
    first: bool
    gap: Spread
    fit: Spread | None


def nse_kinds(artefacts: Artefacts) -> tuple[str, ...]:
    """The kinds of questions, in stored order."""
    return tuple(dict.fromkeys(artefacts.nse.runs["questions"]))


def of_run(table: pd.DataFrame, kind: str, run: str) -> pd.DataFrame:
    """The rows of a run."""
    return table[(table["questions"] == kind) & (table["run"] == run)]


def nse_runs(artefacts: Artefacts, kind: str) -> list[Run]:
    """The runs on one kind of questions in stored order; the first is the reference."""
    rows = artefacts.nse.runs[artefacts.nse.runs["questions"] == kind]
    return [_run(artefacts, kind, row, at == 0) for at, (_, row) in enumerate(rows.iterrows())]


def _run(artefacts: Artefacts, kind: str, row: "pd.Series[float]", is_first: bool) -> Run:
    name, nse = str(row["run"]), artefacts.nse
    seeds, history = of_run(nse.results, kind, name), of_run(nse.history, kind, name)
    test = Spread.of(seeds["test_accuracy"])
    return Run(
        name=name,
        strategy=str(row["strategy"]),
        steps=int(row["steps"]),
        dev=Spread.of(seeds["dev_accuracy"]),
        test=test,
        tests=tuple(map(float, seeds["test_accuracy"])),
        mean_steps=Spread.known(seeds["test_mean_steps"]),
        sd_steps=Spread.known(seeds["dev_sd_steps"]),
        parameters=int(seeds["parameters"].iloc[0]),
        diverged=int(seeds["diverged"].sum()),
        difference=Interval.stored(row),
        pairs=int(row["pairs"]),
        first=is_first,
        gap=Spread.of(seeds["dev_accuracy"] - seeds["test_accuracy"]),
        fit=_fit(seeds, history),
    )


def _fit(seeds: pd.DataFrame, history: pd.DataFrame) -> Spread | None:
    """Training minus dev accuracy at the best epochs that are known."""
    best = seeds.merge(history, left_on=["seed", "best_epoch"], right_on=["seed", "epoch"])
    return Spread.known(best["train_accuracy"] - best["dev_accuracy_y"])


def nse_steps(artefacts: Artefacts, kind: str, run: Run, figure: str) -> dict[int, Spread]:
    """`weight` in the answer or `accuracy` by itself of each step on dev."""
    return along(of_run(artefacts.nse.steps, kind, run.name), "step", figure)


def nse_curve(artefacts: Artefacts, kind: str, run: Run, part: str) -> dict[int, Spread]:
    """Accuracy on `train` or `dev` by epoch, over the seeds that reached it."""
    rows = of_run(artefacts.nse.history, kind, run.name)
    return along(rows, "epoch", f"{part}_accuracy")


def baselines(artefacts: Artefacts, kind: str) -> Mapping[str, Baseline]:
    """What no reading is needed for, by split: train, dev and test."""
    rows = artefacts.nse.baselines[artefacts.nse.baselines["questions"] == kind]
    found = [Baseline(**dict(row)) for _, row in rows.iterrows()]
    return {one.split: one for one in found}


def nse_table(artefacts: Artefacts, kind: str) -> Table:
    """One row per run, below what no reading is needed for."""
    runs, found = nse_runs(artefacts, kind), baselines(artefacts, kind)
    diverged = any(run.diverged for run in runs)
    header = ["run", "n", "dev accuracy, %", "test accuracy, %", "mean steps", "parameters"]
    header += [f"difference to {runs[0].name}, points (95 % interval)", "p"]
    rows = []
    for name, column in ((RANDOM, "random"), (FREQUENT, "most_frequent")):
        accuracies = [f"{100 * getattr(found[split], column):.1f}" for split in ("dev", "test")]
        rows.append([name, DASH, *accuracies, *[DASH] * 4, *[DASH] * diverged])
    for run in runs:
        row = [run.name, str(run.test.n), run.dev.percent(), run.test.percent(), _taken(run)]
        row += [f"{run.parameters:,}"]
        row += [DASH, DASH] if run.first else [run.difference.points(), p_value(run.difference.p)]
        rows.append([*row, f"{run.diverged} of {run.test.n}"] if diverged else row)
    return Table([*header, "runs diverged"] if diverged else header, rows)


def _taken(run: Run) -> str:
    """Mean steps on test; a whole number where nothing halts."""
    if run.strategy == GATING or run.steps == 1:
        return str(run.steps)
    return plain(run.mean_steps)


def published_table(artefacts: Artefacts, kind: str) -> Table:
    """The published readers, with ours of the same strategy and steps beside them."""
    known, runs = KINDS[kind], nse_runs(artefacts, kind)
    header = ["published reader", "steps"]
    for setting in known.settings:
        header += [f"{setting.name} {split}, %" for split in ("dev", "test")]
    header += ["ours, dev, %", "ours, test, %"]
    rows = []
    for strategy, steps in READERS:
        ours = next((run for run in runs if same_reader(run, strategy, steps)), None)
        row = ["one step" if steps == 1 else STRATEGIES[strategy], str(steps)]
        for setting in known.settings:
            row += [f"{accuracy:.1f}" for accuracy in setting.accuracies[strategy, steps]]
        row += [DASH, DASH] if ours is None else [ours.dev.percent(), ours.test.percent()]
        rows.append(row)
    return Table(header, rows)


def same_reader(run: Run, strategy: str, steps: int) -> bool:
    """Whether a run is that reader; with one step the strategies are the same."""
    return run.steps == steps and (run.strategy == strategy or steps == 1)


def nse_csv(artefacts: Artefacts, published: bool) -> str:
    """Every run, baseline and published reader; accuracies in [0, 1]."""
    header = ["questions", "run", "source", "strategy", "steps", "seeds", "diverged", "parameters"]
    header += ["dev_accuracy_mean", "dev_accuracy_sd", "test_accuracy_mean", "test_accuracy_sd"]
    header += ["mean_steps_mean", "mean_steps_sd", "difference", "low", "high", "p"]
    header += ["pairs"]
    rows: list[list[Cell]] = []
    for kind in nse_kinds(artefacts):
        found = baselines(artefacts, kind)
        for name, column in ((RANDOM, "random"), (FREQUENT, "most_frequent")):
            dev, test = (getattr(found[split], column) for split in ("dev", "test"))
            rows.append([kind, name, OURS, *[None] * 5, dev, None, test, *[None] * 8])
        for run in nse_runs(artefacts, kind):
            row: list[Cell] = [kind, run.name, OURS, run.strategy, run.steps, run.test.n]
            row += [run.diverged, run.parameters, *cells(run.dev), *cells(run.test)]
            row += cells(run.mean_steps)
            row += [run.difference.mean, run.difference.low, run.difference.high]
            rows.append([*row, run.difference.p, run.pairs])
        if published:
            rows += [row for setting in KINDS[kind].settings for row in _printed(kind, setting)]
    return csv_text(header, rows)


def _printed(kind: str, setting: Setting) -> Sequence[list[Cell]]:
    """Published rows of one setting."""
    rows: list[list[Cell]] = []
    for (strategy, steps), (dev, test) in setting.accuracies.items():
        source = f"{PAPER}, {KINDS[kind].table}, {setting.name}"
        name = "one step" if steps == 1 else f"{STRATEGIES[strategy]}, {steps} steps"
        row: list[Cell] = [kind, name, source, strategy, steps, *[None] * 3]
        rows.append([*row, round(dev / 100, 6), None, round(test / 100, 6), *[None] * 8])
    return rows
