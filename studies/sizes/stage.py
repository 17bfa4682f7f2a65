"""Study `sizes`: accuracy by number of training pairs.

The selected configurations are trained on nested subsets: a half, a quarter, … of the pairs. Epochs
and patience grow as subsets shrink, so that the maximum number of updates is constant: otherwise
small subsets would stop early and the curve would be too steep. The full set reuses the retrained
trial.

Dev accuracy selects the epoch, among many more epochs for small subsets. So errors are measured on
the test split, once for each trained model.
"""

from collections.abc import Sequence
from dataclasses import replace

from actmodels.data.pairs import PairTensors
from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import TableRow, data_digest, read_json
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import grouped, mean, over_seeds, summarize
from pipeline.trials.execution import best_config, execution_settings
from pipeline.trials.study import Run, evaluate_runs, result_row, train, write_study
from studies.sizes.section import Study
from studies.sizes.tables import COLUMNS


def plan(params: Params, study: Study, pairs: int) -> list[Run[TrialConfig]]:
    """Return a run for each model, subset and seed, the smallest subset first."""
    limits, runs = params.retrain, []
    for model in study.models:
        base = best_config(model)
        for halvings in range(study.halvings, -1, -1):
            factor = 2**halvings
            training = replace(base.training, train_pairs=pairs // factor if halvings else 0)
            epochs, patience = limits.max_epochs * factor, limits.patience * factor
            config = replace(base, training=training, max_epochs=epochs, patience=patience)
            labels = {"model": model, "pairs": pairs // factor}
            runs += [Run(labels, replace(config, seed=seed)) for seed in limits.seeds]
    return runs


def point_rows(rows: Sequence[TableRow]) -> list[TableRow]:
    """Return means over seeds for each model and size."""
    points = []
    for (model, pairs), runs in grouped(rows, "model", "pairs").items():
        point = {"model": model, "pairs": pairs, "seeds": len(runs)}
        point |= {name: mean(runs, name) for name in ("epochs", "cut_off")}
        points.append(point | over_seeds(runs, "dev_accuracy", "test_accuracy"))
    return points


def main() -> None:
    """Write artifacts/studies/sizes/."""
    params = load_params()
    study, execution = study_section(params, Study), execution_settings(params)
    pairs = int(read_json("tensors", "manifest.json")["pairs"]["train"])
    trained = train("sizes", plan(params, study, pairs), execution, data_digest())
    test = PairTensors.load(artifacts("tensors", "test.pt"))
    rows: list[TableRow] = []
    for run, record, result in evaluate_runs("sizes", trained, test, execution):
        cut_off = record.best.epoch + run.config.patience > run.config.max_epochs
        row = {"test_accuracy": result.accuracy, "cut_off": cut_off}
        rows.append(result_row(run, record) | row)
    points = point_rows(rows)
    summary = summarize(points, "model", "pairs", "test_accuracy_mean")
    write_study("sizes", trained, summary, COLUMNS, results=rows, points=points)


if __name__ == "__main__":
    run_stage(main)
