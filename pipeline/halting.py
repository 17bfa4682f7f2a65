"""Stage `halting`: the halting mechanisms side by side, by dev accuracy, steps and collapse.

The test split is not read: no winner is claimed.
"""

from pipeline.runtime.idle import end_if_idle

if __name__ == "__main__":
    end_if_idle("halting.mechanisms")

import statistics
from collections.abc import Sequence

from actmodels.data.pairs import PairTensors
from actmodels.registry import model_with
from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.trials import grid_points
from pipeline.runtime.results import TableRow
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import grouped, mean, spread, summarise
from pipeline.statistics.step_correlation import depth_rows
from pipeline.studies.study import Run, history_rows, result_row, train, write_study
from pipeline.studies.variants import best_config, evaluate_runs, with_overrides
from pipeline.trials.execution import data_digest, execution_settings


def plan(params: Params) -> list[Run[TrialConfig]]:
    """Return every combination of a mechanism's values with every seed."""
    study, common = params.halting, params.sweep.settings
    base, runs = best_config(study.model), []
    for kind, axes in study.mechanisms.items():
        model = model_with(study.model, kind)
        for changes in grid_points(axes):
            point = ", ".join(f"{name} {value}" for name, value in changes.items()) or "as set"
            for seed in study.seeds:
                config = with_overrides(base, model, common, changes, study, seed)
                runs.append(Run({"kind": kind, "point": point}, config))
    return runs


def point_rows(rows: Sequence[TableRow], collapsed_below: float) -> list[TableRow]:
    """Return mean and sd over the seeds of each point, and the share of runs that collapsed."""
    table = []
    for (kind, point), found in grouped(rows, "kind", "point").items():
        named = [{"mean_steps": row["dev_mean_steps"]} for row in found]
        collapsed = statistics.fmean(row["mean_steps"] < collapsed_below for row in named)
        table.append(
            {"kind": kind, "point": point, "seeds": len(found), "collapsed": collapsed}
            | spread(found, "dev_accuracy")
            | spread(named, "mean_steps")
            | {"ponder_weight_end_mean": mean(found, "ponder_weight_end")}
        )
    return table


def main() -> None:
    """Write artifacts/halting/."""
    params = load_params()
    execution, digest = execution_settings(params), data_digest()
    trained = train("halting", plan(params), execution, lambda _: digest)
    rows = [result_row(run, record) for run, record in trained]
    found = point_rows(rows, params.halting.collapsed_below)
    pairs, depths = PairTensors.load(artifacts("tensors", "dev.pt")), list[TableRow]()
    if bool(pairs.depths.any()):  # else the corpus records none
        for run, _, result in evaluate_runs("halting", trained, pairs, execution.trials):
            depths += depth_rows(run.seeded, result, pairs)
    history = history_rows(trained)
    kept = ("seeds", "dev_accuracy_mean", "mean_steps_mean")
    summary = summarise(found, "kind", "point", *kept)
    write_study(
        "halting", trained, summary, results=rows, points=found, depth=depths, history=history
    )


if __name__ == "__main__":
    run_stage(main)
