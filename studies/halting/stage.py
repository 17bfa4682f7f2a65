"""Study `halting`: compare halting mechanisms by dev accuracy, steps and collapse.

The test split is not read, as no mechanism is selected.
"""

import statistics
from collections.abc import Sequence

from actmodels.data.pairs import PairTensors
from actmodels.ranges import grid_points
from actmodels.registry import first_network, model_with
from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import TableRow, data_digest
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import grouped, mean, over_seeds, summarize
from pipeline.statistics.step_correlation import depth_rows
from pipeline.trials.execution import best_config, execution_settings, with_overrides
from pipeline.trials.study import Run, evaluate_runs, history_rows, result_row, train, write_study
from studies.halting.section import Study
from studies.halting.tables import COLUMNS


def plan(params: Params, study: Study) -> list[Run[TrialConfig]]:
    """Return a run for each mechanism, grid point and seed."""
    common = {**params.sweep.settings, **study.settings}
    network = study.model or first_network(params.sweep.models)
    assert network is not None  # a rule of params.yaml
    base, runs = best_config(network), []
    for mechanism, axes in study.mechanisms.items():
        model = model_with(network, mechanism)
        for changes in grid_points(axes):
            point = ", ".join(f"{name} {value}" for name, value in changes.items()) or "as set"
            for seed in study.seeds:
                config = with_overrides(base, model, common, changes, study, seed)
                runs.append(Run({"kind": mechanism, "point": point}, config))
    return runs


def point_rows(rows: Sequence[TableRow], collapsed_below: float) -> list[TableRow]:
    """Return mean and sd over seeds of each grid point, and the share of collapsed runs."""
    rows = [row | {"mean_steps": row["dev_mean_steps"]} for row in rows]
    return [
        {"kind": mechanism, "point": point, "seeds": len(runs)}
        | {"collapsed": statistics.fmean(row["mean_steps"] < collapsed_below for row in runs)}
        | over_seeds(runs, "dev_accuracy", "mean_steps")
        | {"ponder_weight_end_mean": mean(runs, "ponder_weight_end")}
        for (mechanism, point), runs in grouped(rows, "kind", "point").items()
    ]


def main() -> None:
    """Write artifacts/studies/halting/."""
    params = load_params()
    study, execution = study_section(params, Study), execution_settings(params)
    trained = train("halting", plan(params, study), execution, data_digest())
    rows = [result_row(run, record) for run, record in trained]
    points = point_rows(rows, study.collapsed_below)
    pairs, depths = PairTensors.load(artifacts("tensors", "dev.pt")), list[TableRow]()
    if bool(pairs.depths.any()):  # else the corpus has none
        for run, _, result in evaluate_runs("halting", trained, pairs, execution):
            depths += depth_rows(run.seeded, result, pairs)
    tables = {"results": rows, "points": points, "depth": depths, "history": history_rows(trained)}
    kept = ("seeds", "dev_accuracy_mean", "mean_steps_mean")
    summary = summarize(points, "kind", "point", *kept)
    write_study("halting", trained, summary, COLUMNS, **tables)


if __name__ == "__main__":
    run_stage(main)
