"""Stage `retrain`: train each model's best configuration until dev accuracy stops improving."""

from dataclasses import replace

from actmodels.files import replacing
from actmodels.trial_config import trial_from_dict
from pipeline.parameters.load import load_params
from pipeline.runtime.results import TableRow, data_digest, read_json
from pipeline.runtime.stage import run_stage
from pipeline.statistics.aggregate import over_seeds
from pipeline.trials.environment import train_trials
from pipeline.trials.execution import execution_settings
from pipeline.trials.records import report_lost, weights_file, write_trials
from pipeline.trials.selection import is_lost
from tune.trials.grid import with_keys
from tune.trials.store import TrialStore


def main() -> None:
    """Write artifacts/retrain/, with the weights of the best epoch of each seed.

    Seeds that diverged have none. Raises SweepError if all did.
    """
    params = load_params()
    best, limits = read_json("select_best", "best.json"), params.retrain
    configs = [
        replace(base, max_epochs=limits.max_epochs, patience=limits.patience, seed=seed)
        for base in (trial_from_dict(winner["config"]) for winner in best.values())
        for seed in limits.seeds
    ]
    execution = execution_settings(params)
    trials = with_keys(configs, data_digest(), execution)
    store = TrialStore(execution.trials)
    swept = {m: store.load(w["key"], needs_weights=False) for m, w in best.items()}
    seconds = {m: (r and r.history[-1].seconds) or 0.0 for m, r in swept.items()}
    # the slowest first, so that none of them runs alone at the end
    options = {"keep_weights": True, "priority": lambda trial: seconds[trial.config.model]}
    records = train_trials("retrain", trials, execution, **options)
    report_lost("retrain", records)
    accuracies: dict[str, list[TableRow]] = {}
    for config, record in zip(configs, records, strict=True):
        if is_lost(record):
            continue
        with replacing(weights_file(config)) as temporary:
            temporary.write_bytes(store.weights(record.key))
        row = {"dev_accuracy": record.best.dev_accuracy}
        accuracies.setdefault(config.model, []).append(row)
    summary = {
        model: {"seeds": len(rows), **over_seeds(rows, "dev_accuracy")}
        for model, rows in accuracies.items()
    }
    write_trials("retrain", records, summary)


if __name__ == "__main__":
    run_stage(main)
