"""Stage `sweep`: train every point of the grid; reuse finished trials."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from actmodels.seeding import seed_of
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Sweep
from pipeline.parameters.section import seconds_of
from pipeline.parameters.trials import trial_count
from pipeline.runtime.stage import run_stage
from pipeline.trials.environment import train_trials
from pipeline.trials.execution import execution_settings, planned_trials
from pipeline.trials.records import write_trials
from tune.trials.grid import Trial, grid_hash
from tune.trials.stops import Stops, ended_text


def start_order(sweep: Sweep) -> Callable[[Trial], float]:
    """Return the priority of a trial: none, or a random one that search_seed decides."""
    if sweep.order == "listed":
        return lambda _: 0.0
    return lambda trial: seed_of(f"start order {trial.key}", sweep.search_seed)


def main() -> None:
    """Write artifacts/sweep/."""
    params = load_params(trials=True)
    limit = seconds_of(params.sweep.time_limit)
    execution = replace(execution_settings(params), time_limit=limit)
    trials = planned_trials(params, execution)
    records = train_trials("sweep", trials, execution, priority=start_order(params.sweep))
    models: dict[str, Any] = {}
    for model in params.sweep.models:
        own = [record for record in records if record.config["model"] == model]
        accuracies = [record.best.dev_accuracy for record in own if not record.diverged]
        best = max(accuracies, default=None)
        models[model] = {
            "trials": len(own),
            "diverged": len(own) - len(accuracies),
            "best_dev_accuracy": best,
        }
    group = grid_hash(trials)
    summary = {"grid_hash": group, "trials": len(records), "models": models}
    if by := Stops(execution.checkpoints, group).reason():
        summary["ended"] = ended_text(by, records, trial_count(params.sweep), models)
        print(f"sweep: {summary['ended']}", file=sys.stderr, flush=True)
    write_trials("sweep", records, summary)


if __name__ == "__main__":
    run_stage(main)
