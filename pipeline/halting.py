"""Stage `halting`: the ways of halting side by side, by dev accuracy, steps and collapse.

The test split is not read: nothing is claimed of one winner, the ways are compared.
"""

import statistics
from collections.abc import Sequence

from actmodels.config import TrialConfig
from actmodels.data.pairs import PairTensors
from actmodels.registry import model_with
from pipeline.measures.over_seeds import Row, grouped, mean, spread, summarise
from pipeline.measures.steps import depth_rows
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.trials import points
from pipeline.running.results import write_json, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.studies.study import Run, Trained, history_rows, result_row, timing_rows, train
from pipeline.studies.variants import changed, chosen, scored
from pipeline.trained.trials import data_digest, execution_settings
from tune.selection import sample_sd
from tune.storage import Storage

RESULTS = (
    *("kind", "point", "seed", "key", "parameters", "epochs", "best_epoch", "diverged"),
    *("dev_accuracy", "dev_mean_steps", "dev_sd_steps", "ponder_weight_end"),
)
HISTORY = ("kind", "point", "seed", "epoch", "dev_accuracy", "dev_mean_steps", "ponder_weight")


def plan(params: Params) -> list[Run[TrialConfig]]:
    """Every combination of a kind's values with every seed, in the order of params.yaml."""
    study, common = params.halting, params.sweep.settings
    runs = []
    for kind, axes in study.kinds.items():
        base = chosen(study.model)
        for changes in points(axes):
            point = ", ".join(f"{name} {value}" for name, value in changes.items()) or "as set"
            for seed in study.seeds:
                model = model_with(study.model, kind)
                config = changed(base, model, common, changes, study, seed)
                runs.append(Run({"kind": kind, "point": point}, config))
    return runs


def point_rows(rows: list[Row], collapsed_below: float) -> list[Row]:
    """Mean and sd over the seeds of each point, and the share of runs that collapsed."""
    table = []
    for (kind, point), found in grouped(rows, "kind", "point").items():
        steps = [row["dev_mean_steps"] for row in found]
        table.append(
            {
                "kind": kind,
                "point": point,
                "seeds": len(found),
                **spread(found, "dev_accuracy"),
                "mean_steps_mean": statistics.fmean(steps),
                "mean_steps_sd": sample_sd(steps),
                "collapsed": statistics.fmean(step < collapsed_below for step in steps),
                "ponder_weight_end_mean": mean(found, "ponder_weight_end"),
            }
        )
    return table


def by_depth(trained: Sequence[Trained[TrialConfig]], place: Storage) -> list[Row]:
    """Every run on the dev pairs of each depth; nothing where the corpus records none."""
    pairs = PairTensors.load(artefacts("tensors", "dev.pt"))
    if not bool(pairs.depths.any()):
        return []
    found = scored("halting", trained, pairs, place)
    return [row for run, _, result in found for row in depth_rows(run.seeded, result, pairs)]


def main() -> None:
    """Write artefacts/halting/."""
    params = load_params()
    folder = artefacts("halting")
    runs, execution = plan(params), execution_settings(params)
    digest = data_digest() if runs else ""
    trained = train("halting", runs, execution, lambda _: digest)
    rows = [result_row(run, record) for run, record in trained]
    found = point_rows(rows, params.halting.collapsed_below)
    write_table(folder / "results.csv", rows, list(RESULTS))
    write_table(folder / "points.csv", found)
    depths = by_depth(trained, execution.trials)
    write_table(folder / "depth.csv", depths)
    write_table(folder / "history.csv", history_rows(trained), list(HISTORY))
    write_table(folder / "timings.csv", timing_rows(trained))
    kept = ("seeds", "dev_accuracy_mean", "mean_steps_mean")
    write_json(folder / "summary.json", summarise(found, "kind", "point", kept))


if __name__ == "__main__":
    run_stage(main)
