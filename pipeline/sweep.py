"""Stage `sweep`: train every point of the grid, or reuse it where it is already trained."""

from typing import Any

from pipeline.parameters.load import load_params
from pipeline.parameters.trials import sweep_trials
from pipeline.running.stage import artefacts, run_stage
from pipeline.trained.environment import Stopwatch
from pipeline.trained.trials import data_digest, execution_settings, keyed, write_trials
from tune.early_stopping import SuccessiveHalving
from tune.grid import grid_hash
from tune.sweep import run_trials


def main() -> None:
    """Write artefacts/sweep/."""
    params = load_params()
    sweep = params.sweep
    execution = execution_settings(params)
    stopping = sweep.early_stopping
    rule = (
        SuccessiveHalving(stopping.first_epochs, stopping.keep_one_in)
        if stopping.rule == "successive_halving"
        else None
    )
    trials = keyed(data_digest(), sweep_trials(sweep), execution, rule)
    with Stopwatch("sweep", trials, execution) as stopwatch:
        records = run_trials("sweep", trials, execution)
    models: dict[str, Any] = {}
    for model in sweep.models:
        found = [r.best.dev_accuracy for r in records if r.config["model"] == model]
        models[model] = {"trials": len(found), "best_dev_accuracy": max(found)}
    summary = {"grid_hash": grid_hash(trials), "trials": len(records), "models": models}
    write_trials(artefacts("sweep"), records, summary)
    stopwatch.write(artefacts("sweep"), records)


if __name__ == "__main__":
    run_stage(main)
