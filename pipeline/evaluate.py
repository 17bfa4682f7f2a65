"""Stage `evaluate`: the retrained models on the test split, read here once per model and seed."""

import csv
from typing import Any

from tqdm import tqdm

from actmodels.data.labels import LABELS
from actmodels.data.pairs import PairTensors
from actmodels.data.subset import premise_groups
from actmodels.evaluation import Evaluation, evaluate
from actmodels.figures import mean_and_sd
from pipeline.measures.over_seeds import Row, mean, spread
from pipeline.measures.paired import hits_by_model, paired_rows
from pipeline.measures.steps import correlation_rows, depth_rows, length_rows
from pipeline.parameters.load import load_params
from pipeline.running.results import write_json, write_table
from pipeline.running.stage import artefacts, made, run_stage
from pipeline.trained.trials import log_figures, retrained_models


def prediction_rows(
    name: dict[str, Any], result: Evaluation, pair_ids: list[str]
) -> list[dict[str, Any]]:
    """One row per pair scored, for paired tests between models."""
    scored = [pair_ids[row] for row in result.rows.tolist()]
    steps = [None] * len(scored) if result.steps is None else result.steps.int().tolist()
    labels, predictions = result.labels.tolist(), result.predictions.tolist()
    return [
        name | {"pair_id": i, "label": LABELS[y], "predicted": LABELS[p], "steps": n}
        for i, y, p, n in zip(scored, labels, predictions, steps, strict=True)
    ]


def summarise(rows: list[Row]) -> dict[str, Any]:
    """Mean and sample standard deviation over the seeds of one model."""
    return {
        "seeds": len(rows),
        **spread(rows, "test_accuracy"),
        **spread(rows, "dev_accuracy"),
        "mean_steps": mean(rows, "test_mean_steps"),
        "parameters": rows[0]["parameters"],
    }


def lexicalised_predictions() -> list[dict[str, str]]:
    """The test predictions of the classifier on features of words."""
    with made("lexicalised", "predictions.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Write artefacts/evaluate/."""
    params = load_params().evaluate
    folder = artefacts("evaluate")
    pairs = PairTensors.load(artefacts("tensors", "test.pt"))
    pair_ids = artefacts("tensors", "test_ids.txt").read_text(encoding="utf-8").splitlines()
    rows, depths, predictions = [], [], []
    lengths: list[dict[str, Any]] = []
    correlations: list[dict[str, Any]] = []
    for config, record, model in tqdm(list(retrained_models()), "evaluate", unit="model"):
        result = evaluate(model, pairs, config.input, params.batch_size)
        name = {"model": config.model, "seed": config.seed}
        mean_steps, sd_steps = mean_and_sd(result.steps)
        rows.append(
            name
            | {"key": record.key, "parameters": record.parameters, "epochs": len(record.history)}
            | {"best_epoch": record.best.epoch, "dev_accuracy": record.best.dev_accuracy}
            | {"test_accuracy": result.accuracy, "test_pairs": len(result.rows)}
            | {"test_mean_steps": mean_steps, "test_sd_steps": sd_steps}
        )
        depths += depth_rows(name, result, pairs)
        predictions += prediction_rows(name, result, pair_ids)
        lengths += length_rows(name, result, pairs)
        correlations += correlation_rows(name, result, pairs)
    models = dict.fromkeys(str(row["model"]) for row in rows)
    summary = {model: summarise([r for r in rows if r["model"] == model]) for model in models}

    write_table(folder / "results.csv", rows)
    write_table(folder / "depth.csv", depths)
    write_table(folder / "predictions.csv", predictions)
    found = hits_by_model([*predictions, *lexicalised_predictions()], pair_ids)
    paired = paired_rows(found, params.reference, premise_groups(pairs).numpy())
    write_table(folder / "paired.csv", paired)
    write_table(folder / "lengths.csv", lengths)
    write_table(folder / "correlations.csv", correlations)
    write_json(folder / "summary.json", summary)
    log_figures("evaluate", [str(row["key"]) for row in rows], summary)


if __name__ == "__main__":
    run_stage(main)
