"""Stage `sweep`: train every point of the grid, or reuse it where it is already trained."""

from collections.abc import Mapping
from typing import Any

from actmodels.config import setting_types
from pipeline.parameters.load import load_params
from pipeline.running.stage import artefacts, run_stage
from pipeline.trained.environment import Stopwatch
from pipeline.trained.trials import data_digest, execution_settings, keyed, write_trials
from tune.early_stopping import SuccessiveHalving
from tune.grid import expand, grid_hash
from tune.sweep import run_trials


def main() -> None:
    """Write artefacts/sweep/."""
    params = load_params()
    sweep = params.sweep
    execution = execution_settings(params)
    configs = [
        config
        for model, choice in sweep.models.items()
        for config in expand(
            model,
            effective(model, sweep.settings, choice.settings, choice.grid),
            choice.grid,
            seeds=sweep.seeds,
            max_epochs=sweep.max_epochs,
            patience=sweep.patience,
        )
    ]
    stopping = sweep.early_stopping
    rule = (
        SuccessiveHalving(stopping.first_epochs, stopping.keep_one_in)
        if stopping.rule == "successive_halving"
        else None
    )
    trials = keyed(data_digest(), configs, execution, rule)
    with Stopwatch("sweep", trials, execution) as stopwatch:
        records = run_trials("sweep", trials, execution)
    models: dict[str, Any] = {}
    for model in sweep.models:
        found = [r.best.dev_accuracy for r in records if r.config["model"] == model]
        models[model] = {"trials": len(found), "best_dev_accuracy": max(found)}
    summary = {"grid_hash": grid_hash(trials), "trials": len(records), "models": models}
    write_trials(artefacts("sweep"), records, summary)
    stopwatch.write(artefacts("sweep"), records)


def effective(
    model: str, common: Mapping[str, Any], own: Mapping[str, Any], grid: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings of a model that its grid leaves open.

    Args:
        common: `sweep.settings`; those that the model does not have are passed over.
        own: the model's own settings, which win. grid: its axes, which win over common ones.
    """
    shared = {n: v for n, v in common.items() if n in setting_types(model) and n not in grid}
    return {**shared, **own}


if __name__ == "__main__":
    run_stage(main)
