"""Stage `halting`: the ways of halting side by side, by dev accuracy, steps and collapse.

The test split is not read: nothing is claimed of one winner, the ways are compared.
"""

import itertools
import statistics
from typing import Any

from actmodels.registry import model_with
from actmodels.rows.columns import columns
from actmodels.rows.studies import HaltingPoint, HaltingTime
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.running.results import write_summary, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.studies.study import Run, changed, chosen, run_row, summarise, timing_row, train
from pipeline.trained.trials import execution_settings
from tune.selection import sample_sd

RESULTS = (
    *("kind", "point", "seed", "key", "parameters", "epochs", "best_epoch", "diverged"),
    *("dev_accuracy", "dev_mean_steps", "dev_sd_steps", "ponder_weight_end"),
)
HISTORY = ("kind", "point", "seed", "epoch", "dev_accuracy", "dev_mean_steps", "ponder_weight")


def plan(params: Params) -> list[Run]:
    """Every combination of a kind's values with every seed, in the order of params.yaml."""
    study, common = params.halting, params.sweep.settings
    runs = []
    for kind, axes in study.kinds.items():
        base = chosen(study.model)
        for values in itertools.product(*axes.values()):
            changes = dict(zip(axes, values, strict=True))
            point = ", ".join(f"{name} {value}" for name, value in changes.items()) or "as set"
            for seed in study.seeds:
                config = changed(
                    base,
                    model_with(study.model, kind),
                    common,
                    changes,
                    max_epochs=study.max_epochs,
                    patience=study.patience,
                    seed=seed,
                )
                runs.append(Run({"kind": kind, "point": point}, config))
    return runs


def point_rows(rows: list[dict[str, Any]], collapsed_below: float) -> list[dict[str, Any]]:
    """Mean and sd over the seeds of each point, and the share of runs that collapsed."""
    points: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        points.setdefault((row["kind"], row["point"]), []).append(row)
    table = []
    for (kind, point), found in points.items():
        accuracy = [row["dev_accuracy"] for row in found]
        steps = [row["dev_mean_steps"] for row in found]
        weights = [r["ponder_weight_end"] for r in found if r["ponder_weight_end"] is not None]
        table.append(
            {
                "kind": kind,
                "point": point,
                "seeds": len(found),
                "dev_accuracy_mean": statistics.fmean(accuracy),
                "dev_accuracy_sd": sample_sd(accuracy),
                "mean_steps_mean": statistics.fmean(steps),
                "mean_steps_sd": sample_sd(steps),
                "collapsed": statistics.fmean(step < collapsed_below for step in steps),
                "ponder_weight_end_mean": statistics.fmean(weights) if weights else None,
            }
        )
    return table


def main() -> None:
    """Write artefacts/halting/."""
    params = load_params()
    folder = artefacts("halting")
    runs = plan(params)
    records = train("halting", runs, execution_settings(params), keep_weights=False) if runs else []
    pairs = list(zip(runs, records, strict=True))
    rows = [run_row(run, record) for run, record in pairs]
    points = point_rows(rows, params.halting.collapsed_below)
    write_table(folder / "results.csv", rows, list(RESULTS))
    write_table(folder / "points.csv", points, columns(HaltingPoint))
    history = [
        {**run.labels, "seed": run.config.seed} | {name: getattr(e, name) for name in HISTORY[3:]}
        for run, record in pairs
        for e in record.history
    ]
    write_table(folder / "history.csv", history, list(HISTORY))
    timings = [timing_row(run, record) for run, record in pairs]
    write_table(folder / "timings.csv", timings, columns(HaltingTime))
    kept = ("seeds", "dev_accuracy_mean", "mean_steps_mean")
    summary = summarise(points, "kind", "point", kept)
    write_summary(folder / "summary.json", summary)


if __name__ == "__main__":
    run_stage(main)
