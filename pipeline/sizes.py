"""Stage `sizes`: accuracy by number of training pairs, and its extrapolation.

The retrained configurations are trained on a half, a quarter, … of the pairs, each part within
the larger ones. Epochs and patience grow as parts shrink, so that all make as many updates at most:
with no more epochs than the whole, small parts would be cut off early and the curve too steep. The
whole is the retrained trial itself, which is reused.

Dev chooses the epoch, among many more of them for small parts, so errors are of test, which is
read once for each trained model.
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
from pipeline.runtime.results import TableRow, read_json
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import grouped, mean, spread, summarise
from pipeline.statistics.paired import Groups, Hits, split_hits
from pipeline.statistics.power_law import LEAST_SIZES, PowerLaw, fit, mean_variances, redrawn
from pipeline.studies.study import Run, result_row, train, write_study
from pipeline.studies.variants import best_config, evaluate_runs
from pipeline.trials.execution import data_digest, execution_settings

CURVE = 25  # points of a drawn law


def plan(params: Params, pairs: int) -> list[Run[TrialConfig]]:
    """Return every part of the training pairs with every seed, the smallest first."""
    limits, runs = params.retrain, []
    for model in params.sizes.models:
        base = best_config(model)
        for halved in range(params.sizes.halvings, -1, -1):
            times = 2**halved
            training = replace(base.training, train_pairs=pairs // times if halved else 0)
            part = replace(
                base,
                training=training,
                max_epochs=limits.max_epochs * times,
                patience=limits.patience * times,
            )
            labels = {"model": model, "pairs": pairs // times}
            runs += [Run(labels, replace(part, seed=seed)) for seed in limits.seeds]
    return runs


def point_rows(rows: Sequence[TableRow], max_error: float) -> list[TableRow]:
    """Return each model and size over its seeds; sizes near chance are not fitted."""
    points = []
    for (model, pairs), of in grouped(rows, "model", "pairs").items():
        test = spread(of, "test_accuracy")
        points.append(
            {"model": model, "pairs": pairs, "seeds": len(of), "epochs": mean(of, "epochs")}
            | {"cut_off": mean(of, "cut_off"), **spread(of, "dev_accuracy"), **test}
            | {"fitted": test["test_accuracy_mean"] >= 1 - max_error}
        )
    return points


def accuracy(law: PowerLaw, laws: PowerLaw, pairs: int) -> TableRow:
    """Return the law's accuracy at a number of pairs, and its 95 % interval over all draws."""
    low, high = (1 - float(error) for error in np.quantile(laws.error(pairs), [0.975, 0.025]))
    return {"pairs": pairs, "accuracy": 1 - float(law.error(pairs)[0]), "low": low, "high": high}


def extrapolated(
    hits: dict[int, Hits], groups: Groups, study: Sizes
) -> tuple[list[TableRow], list[TableRow]]:
    """Return rows of the law of all sizes and of that without the largest; and a curve.

    Args:
        hits: of the fitted sizes, by number of training pairs [seeds, test pairs].
        groups: of test pairs; see measures.paired.
    """
    sizes = sorted(hits)
    rows: list[TableRow] = []
    curve: list[TableRow] = []
    if len(sizes) < LEAST_SIZES:
        return rows, curve
    means = np.array([[1 - hits[n].mean() for n in sizes]])
    drawn = redrawn([hits[n] for n in sizes], groups, study.n_bootstrap, study.bootstrap_seed)
    for used, at in ((len(sizes), study.pairs), (len(sizes) - 1, sizes[-1])):
        if used < LEAST_SIZES:
            break
        variances = mean_variances([hits[n] for n in sizes[:used]])
        law, laws = (fit(sizes[:used], errors[:, :used], variances) for errors in (means, drawn))
        found = accuracy(law, laws, at)
        rows.append(
            {
                **{"without_largest": used < len(sizes), "sizes": used},
                "floor": float(law.floor[0]),
                "scale": float(law.scale[0] * law.unit ** law.exponent[0]),
                **{"exponent": float(law.exponent[0]), **found},
                "bounded": bool(law.bounded[0]),
                "wide": found["high"] - found["low"] > study.max_ci_width,
            }
        )
        places = np.geomspace(sizes[0], max(at, sizes[-1]), CURVE).round().astype(int).tolist()
        curve = curve or [accuracy(law, laws, n) for n in places]
    return rows, curve


def main() -> None:
    """Write artifacts/sizes/."""
    params = load_params()
    study, execution, digest = params.sizes, execution_settings(params), data_digest()
    pairs = int(read_json("tensors", "manifest.json")["pairs"]["train"])
    trained = train("sizes", plan(params, pairs), execution, lambda _: digest)
    test = PairTensors.load(artifacts("tensors", "test.pt"))
    rows: list[TableRow] = []
    for run, record, result in evaluate_runs("sizes", trained, test, execution.trials):
        cut_off = record.best.epoch + run.config.patience > run.config.max_epochs
        figures = {"test_accuracy": result.accuracy, "hits": split_hits(result, len(test))}
        rows.append(result_row(run, record) | figures | {"cut_off": cut_off})
    points, groups = point_rows(rows, study.max_error), premise_groups(test).numpy()
    laws: list[TableRow] = []
    curves: list[TableRow] = []
    by_size = grouped(rows, "model", "pairs")
    for model in study.models:
        fitted = [row["pairs"] for row in points if row["model"] == model and row["fitted"]]
        hits = {n: np.stack([row["hits"] for row in by_size[model, n]]) for n in fitted}
        for table, own in zip((laws, curves), extrapolated(hits, groups, study), strict=True):
            table += [{"model": model} | row for row in own]
    summary = summarise(points, "model", "pairs", "test_accuracy_mean")
    write_study("sizes", trained, summary, results=rows, points=points, laws=laws, curves=curves)


if __name__ == "__main__":
    run_stage(main)
