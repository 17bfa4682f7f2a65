"""Stage `sizes`: accuracy by number of training pairs, and what it foretells of many more.

The retrained configurations are trained on a half, a quarter, … of the pairs, each part within
the larger ones. All make as many updates at most, and wait as long for a better dev accuracy:
epochs and patience grow as parts shrink, since small parts with no more epochs than the whole
would be cut off early and the curve too steep. The whole is the retrained trial itself, which is
not run again.

Dev chooses the epoch, out of many more of them for small parts, so dev would flatter these: errors
are of test, which is read once for each trained model.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from actmodels.config import TrialConfig
from actmodels.data.pairs import PairTensors
from actmodels.data.subset import premise_groups
from pipeline.measures.over_seeds import Row, grouped, mean, spread, summarise
from pipeline.measures.paired import Groups, Hits
from pipeline.measures.power_law import LEAST_SIZES, PowerLaw, fit, mean_variances, redrawn
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.study_sections import Sizes
from pipeline.running.results import read_json, write_json, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.studies.study import Run, result_row, timing_rows, train
from pipeline.studies.variants import chosen, scored
from pipeline.trained.trials import data_digest, execution_settings

RESULTS = (
    *("model", "pairs", "seed", "key", "parameters", "epochs", "best_epoch", "diverged"),
    *("dev_accuracy", "dev_mean_steps", "test_accuracy", "cut_off"),
)
CURVE = 25  # points of a drawn law
Sized = dict[int, Hits]  # number of training pairs -> [seeds, test pairs]


def plan(params: Params, pairs: int) -> list[Run[TrialConfig]]:
    """Every part of the training pairs with every seed, the smallest first."""
    study, limits = params.sizes, params.retrain
    return [
        Run({"model": model, "pairs": pairs // 2**halved}, part(params, model, pairs, halved, seed))
        for model in study.models
        for halved in range(study.halvings, -1, -1)
        for seed in limits.seeds
    ]


def part(params: Params, model: str, pairs: int, halved: int, seed: int) -> TrialConfig:
    """A model's chosen configuration on one part in 2^halved of the pairs."""
    base, limits, times = chosen(model), params.retrain, 2**halved
    training = replace(base.training, train_pairs=pairs // times if halved else 0)
    epochs, patience = limits.max_epochs * times, limits.patience * times
    return replace(base, training=training, max_epochs=epochs, patience=patience, seed=seed)


def point_rows(rows: Sequence[Row], most_error: float) -> list[Row]:
    """Each model and size over its seeds; the law is fitted to those that are not near chance."""
    return [
        {
            **{"model": model, "pairs": pairs, "seeds": len(of)},
            **{"epochs": mean(of, "epochs"), "cut_off": mean(of, "cut_off")},
            **(spread(of, "dev_accuracy") | spread(of, "test_accuracy")),
            "fitted": fmean(row["test_accuracy"] for row in of) >= 1 - most_error,
        }
        for (model, pairs), of in grouped(rows, "model", "pairs").items()
    ]


def accuracy(law: PowerLaw, laws: PowerLaw, pairs: int) -> Row:
    """That of the law at a number of pairs, and its 95 % interval over all draws."""
    low, high = (1 - float(error) for error in np.quantile(laws.error(pairs), [0.975, 0.025]))
    return {"pairs": pairs, "accuracy": 1 - float(law.error(pairs)[0]), "low": low, "high": high}


def foretold(hits: Sized, groups: Groups, study: Sizes) -> tuple[list[Row], list[Row]]:
    """Lines of the law of all sizes and of that without the largest; and points of the first.

    Args:
        hits: of the sizes that are fitted. groups: of test pairs; see measures.paired.
    """
    sizes = sorted(hits)
    lines: list[Row] = []
    points: list[Row] = []
    if not sizes:
        return lines, points
    means = np.array([[1 - hits[n].mean() for n in sizes]])
    drawn = redrawn([hits[n] for n in sizes], groups, study.draws, study.draws_seed)
    for used, at in ((len(sizes), study.pairs), (len(sizes) - 1, sizes[-1])):
        if used < LEAST_SIZES:
            break
        variances = mean_variances([hits[n] for n in sizes[:used]])
        law, laws = (fit(sizes[:used], errors[:, :used], variances) for errors in (means, drawn))
        found = accuracy(law, laws, at)
        lines.append(
            {
                **{"without_largest": used < len(sizes), "sizes": used},
                "floor": float(law.floor[0]),
                "scale": float(law.scale[0] * law.unit ** law.exponent[0]),
                **{"exponent": float(law.exponent[0]), **found},
                "bounded": bool(law.bounded[0]),
                "wide": found["high"] - found["low"] > study.widest,
            }
        )
        places = np.geomspace(sizes[0], max(at, sizes[-1]), CURVE).round().astype(int).tolist()
        points = points or [accuracy(law, laws, n) for n in places]
    return lines, points


def main() -> None:
    """Write artefacts/sizes/."""
    params = load_params()
    folder, study, execution = artefacts("sizes"), params.sizes, execution_settings(params)
    pairs = int(read_json("tensors", "manifest.json")["pairs"]["train"]) if study.models else 0
    digest = data_digest() if study.models else ""
    trained = train("sizes", plan(params, pairs), execution, lambda _: digest)
    test = PairTensors.load(artefacts("tensors", "test.pt"))
    rows: list[Row] = []
    hits: dict[str, dict[int, list[Hits]]] = {}
    for run, record, result in scored("sizes", trained, test, execution.trials):
        limits = run.config
        cut_off = record.best.epoch + limits.patience > limits.max_epochs
        row = result_row(run, record) | {"test_accuracy": result.accuracy, "cut_off": cut_off}
        rows.append(row)
        right = (result.predictions == result.labels).double().numpy()
        in_order = np.empty(len(test))
        in_order[result.rows.numpy()] = right
        hits.setdefault(row["model"], {}).setdefault(row["pairs"], []).append(in_order)
    points = point_rows(rows, study.most_error)
    groups = premise_groups(test).numpy()
    laws: list[Row] = []
    curves: list[Row] = []
    for model, of in hits.items():
        fitted = [row["pairs"] for row in points if row["model"] == model and row["fitted"]]
        found = foretold({n: np.stack(of[n]) for n in fitted}, groups, study)
        for table, lines in zip((laws, curves), found, strict=True):
            table += [{"model": model} | line for line in lines]
    write_table(folder / "results.csv", rows, list(RESULTS))
    write_table(folder / "points.csv", points)
    write_table(folder / "laws.csv", laws)
    write_table(folder / "curves.csv", curves)
    write_table(folder / "timings.csv", timing_rows(trained))
    write_json(
        folder / "summary.json", summarise(points, "model", "pairs", ("test_accuracy_mean",))
    )


if __name__ == "__main__":
    run_stage(main)
