"""Stage `sweep`: train every point of the grid; reuse finished trials."""

from typing import Any

from pipeline.parameters.load import load_params
from pipeline.runtime.stage import run_stage
from pipeline.trials.environment import train_trials
from pipeline.trials.execution import execution_settings, planned_trials
from pipeline.trials.records import write_trials
from tune.trials.grid import grid_hash


def main() -> None:
    """Write artifacts/sweep/."""
    params = load_params(trials=True)
    execution = execution_settings(params)
    trials = planned_trials(params, execution)
    records = train_trials("sweep", trials, execution)
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
    summary = {"grid_hash": grid_hash(trials), "trials": len(records), "models": models}
    write_trials("sweep", records, summary)


if __name__ == "__main__":
    run_stage(main)
