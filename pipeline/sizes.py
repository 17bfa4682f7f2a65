"""Stage `sizes`: accuracy by number of training pairs, and its extrapolation.

The selected configurations are trained on nested subsets: a half, a quarter, … of the pairs. Epochs
and patience grow as subsets shrink, so that the maximum number of updates is constant: otherwise
small subsets would stop early and the curve would be too steep. The full set reuses the retrained
trial.

Dev accuracy selects the epoch, among many more epochs for small subsets. So errors are measured on
the test split, once for each trained model.
"""

from pipeline.runtime.idle import end_if_idle

if __name__ == "__main__":
    end_if_idle("sizes.models")

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import premise_groups
from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.study_sections import Sizes
from pipeline.runtime.results import TableRow, data_digest, read_json
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import grouped, mean, mean_sd, summarize
from pipeline.statistics.paired import Groups, Hits, split_hits
from pipeline.statistics.power_law import MIN_SIZES, PowerLawFit, bootstrap, fit, mean_variances
from pipeline.trials.execution import best_config, execution_settings
from pipeline.trials.study import Run, evaluate_runs, result_row, train, write_study

CURVE = 25  # points of a plotted law


def plan(params: Params, pairs: int) -> list[Run[TrialConfig]]:
    """Return a run for each model, subset and seed, the smallest subset first."""
    limits, runs = params.retrain, []
    for model in params.sizes.models:
        base = best_config(model)
        for halvings in range(params.sizes.halvings, -1, -1):
            factor = 2**halvings
            training = replace(base.training, train_pairs=pairs // factor if halvings else 0)
            epochs, patience = limits.max_epochs * factor, limits.patience * factor
            config = replace(base, training=training, max_epochs=epochs, patience=patience)
            labels = {"model": model, "pairs": pairs // factor}
            runs += [Run(labels, replace(config, seed=seed)) for seed in limits.seeds]
    return runs


def point_rows(rows: Sequence[TableRow], max_error: float) -> list[TableRow]:
    """Return a row for each model and size; sizes near chance accuracy are not fitted."""
    points = []
    for (model, pairs), runs in grouped(rows, "model", "pairs").items():
        point = {"model": model, "pairs": pairs, "seeds": len(runs)}
        point |= {name: mean(runs, name) for name in ("epochs", "cut_off")}
        point |= mean_sd(runs, "dev_accuracy", "test_accuracy")
        points.append(point | {"fitted": point["test_accuracy_mean"] >= 1 - max_error})
    return points


def accuracy(law: PowerLawFit, bootstrapped: PowerLawFit, pairs: int) -> TableRow:
    """Return the accuracy at a number of pairs with its 95 % bootstrap interval."""
    low, high = (1 - np.quantile(bootstrapped.error(pairs), [0.975, 0.025])).tolist()
    return {"pairs": pairs, "accuracy": 1 - float(law.error(pairs)[0]), "low": low, "high": high}


def extrapolated(
    hits: dict[int, Hits], groups: Groups, study: Sizes
) -> tuple[list[TableRow], list[TableRow]]:
    """Fit a law to all sizes, and to all but the largest; return their rows, and a curve.

    Args:
        hits: by number of training pairs, of the fitted sizes [seeds, test pairs].
        groups: of test pairs; see statistics.paired.
    """
    sizes = sorted(hits)
    rows, curve = list[TableRow](), list[TableRow]()
    if len(sizes) < MIN_SIZES:
        return rows, curve
    means = np.array([[1 - hits[n].mean() for n in sizes]])
    samples = bootstrap([hits[n] for n in sizes], groups, study.n_bootstrap, study.bootstrap_seed)
    for used, at in ((len(sizes), study.pairs), (len(sizes) - 1, sizes[-1])):
        if used < MIN_SIZES:
            break
        variances = mean_variances([hits[n] for n in sizes[:used]])
        law, bootstrapped = (fit(sizes[:used], e[:, :used], variances) for e in (means, samples))
        prediction = accuracy(law, bootstrapped, at)
        rows.append(
            {
                **{"without_largest": used < len(sizes), "sizes": used},
                "floor": float(law.floor[0]),
                "scale": float(law.scale[0] * law.unit ** law.exponent[0]),
                **{"exponent": float(law.exponent[0]), **prediction},
                "bounded": bool(law.bounded[0]),
                "wide": prediction["high"] - prediction["low"] > study.max_ci_width,
            }
        )
        grid = np.geomspace(sizes[0], max(at, sizes[-1]), CURVE).round().astype(int).tolist()
        curve = curve or [accuracy(law, bootstrapped, n) for n in grid]
    return rows, curve


def main() -> None:
    """Write artifacts/sizes/."""
    params = load_params()
    study, execution = params.sizes, execution_settings(params)
    pairs = int(read_json("tensors", "manifest.json")["pairs"]["train"])
    trained = train("sizes", plan(params, pairs), execution, data_digest())
    test = PairTensors.load(artifacts("tensors", "test.pt"))
    rows: list[TableRow] = []
    for run, record, result in evaluate_runs("sizes", trained, test, execution):
        cut_off = record.best.epoch + run.config.patience > run.config.max_epochs
        metrics = {"test_accuracy": result.accuracy, "hits": split_hits(result, len(test))}
        rows.append(result_row(run, record) | metrics | {"cut_off": cut_off})
    points, groups = point_rows(rows, study.max_error), premise_groups(test).numpy()
    laws, curves = list[TableRow](), list[TableRow]()
    by_size = grouped(rows, "model", "pairs")
    for model in study.models:
        fitted = [row["pairs"] for row in points if row["model"] == model and row["fitted"]]
        hits = {n: np.stack([row["hits"] for row in by_size[model, n]]) for n in fitted}
        for table, new in zip((laws, curves), extrapolated(hits, groups, study), strict=True):
            table += [{"model": model} | row for row in new]
    summary = summarize(points, "model", "pairs", "test_accuracy_mean")
    write_study("sizes", trained, summary, results=rows, points=points, laws=laws, curves=curves)


if __name__ == "__main__":
    run_stage(main)
