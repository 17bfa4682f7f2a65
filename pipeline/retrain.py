"""Stage `retrain`: train each model's best configuration until dev stops improving."""

import statistics
from dataclasses import replace

from actmodels.config import trial_from_dict
from actmodels.files import replacing
from pipeline.parameters.load import load_params
from pipeline.running.results import read_json
from pipeline.running.stage import artefacts, run_stage
from pipeline.trained.environment import Stopwatch
from pipeline.trained.trials import data_digest, execution_settings, keyed, write_trials
from tune.selection import sample_sd
from tune.store import TrialStore
from tune.sweep import run_trials


def main() -> None:
    """Write artefacts/retrain/, the weights of the best epoch of each seed included."""
    params = load_params()
    best = read_json("select_best", "best.json")
    retrain = params.retrain
    configs = [
        replace(
            trial_from_dict(winner["config"]),
            max_epochs=retrain.max_epochs,
            patience=retrain.patience,
            seed=seed,
        )
        for winner in best.values()
        for seed in retrain.seeds
    ]
    execution = execution_settings(params)
    trials = keyed(data_digest(), configs, execution)
    store = TrialStore(execution.trials)
    swept = {m: store.load(w["key"], needs_weights=False) for m, w in best.items()}
    seconds = {m: (r and r.history[-1].seconds) or 0.0 for m, r in swept.items()}
    with Stopwatch("retrain", trials, execution) as stopwatch:
        records = run_trials(
            "retrain",
            trials,
            execution,
            keep_weights=True,
            slow=lambda trial: seconds[trial.config.model],
        )
    summary = {}
    for model in best:
        own = [record for record in records if record.config["model"] == model]
        for record in own:
            name = f"{model}-seed{record.config['seed']}.pt"
            with replacing(artefacts("retrain", "weights", name)) as temporary:
                temporary.write_bytes(store.weights(record.key))
        accuracies = [record.best.dev_accuracy for record in own]
        summary[model] = {
            "seeds": len(own),
            "dev_accuracy_mean": statistics.fmean(accuracies),
            "dev_accuracy_sd": sample_sd(accuracies),
        }
    write_trials(artefacts("retrain"), records, summary)
    stopwatch.write(artefacts("retrain"), records)


if __name__ == "__main__":
    run_stage(main)
