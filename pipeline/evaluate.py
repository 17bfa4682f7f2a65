"""Stage `evaluate`: evaluate the retrained models on the test split, once per model and seed."""

import csv
from collections import defaultdict
from collections.abc import Sequence

from tqdm import tqdm

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import premise_groups
from actmodels.training import Evaluation, evaluate
from pipeline.datasets.pairs import ANNOTATORS, read_pairs
from pipeline.parameters.load import load_params
from pipeline.runtime.results import TableRow, write_results
from pipeline.runtime.stage import artifacts, require_artifact, run_stage
from pipeline.statistics.aggregate import mean, over_seeds
from pipeline.statistics.paired import HitsBySeed, paired_rows, prediction_hits, split_hits
from pipeline.statistics.step_correlation import (
    Annotations,
    BySeed,
    agreement_rows,
    annotations,
    correlation_rows,
    depth_rows,
    difficulty_rows,
    effort,
    length_rows,
)
from pipeline.trials.models import retrained_models
from pipeline.trials.records import read_records, trial_row
from pipeline.trials.selection import is_lost


def prediction_rows(
    name: TableRow, result: Evaluation, pair_ids: list[str], classes: Sequence[str]
) -> list[TableRow]:
    """Return a row for each scored pair, for paired tests between models."""
    scored = [pair_ids[row] for row in result.rows.tolist()]
    steps = [None] * len(scored) if result.steps is None else result.steps.int().tolist()
    labels, predictions = result.labels.tolist(), result.predictions.tolist()
    return [
        name | {"pair_id": i, "label": classes[y], "predicted": classes[p], "steps": n}
        for i, y, p, n in zip(scored, labels, predictions, steps, strict=True)
    ]


def read_annotations(pair_ids: list[str]) -> Annotations | None:
    """Return the labels of the annotators of the test pairs; None if the corpus has none."""
    path = require_artifact("corpus", "test.jsonl")
    labels = {pair["pairID"]: pair.get(ANNOTATORS, []) for pair in read_pairs(path)}
    return annotations([labels[pair_id] for pair_id in pair_ids])


def main() -> None:
    """Write artifacts/evaluate/."""
    params = load_params().evaluate
    pairs = PairTensors.load(artifacts("tensors", "test.pt"))
    pair_ids = artifacts("tensors", "test_ids.txt").read_text(encoding="utf-8").splitlines()
    tables: dict[str, list[TableRow]] = defaultdict(list)
    by_model: dict[str, list[TableRow]] = defaultdict(list)
    hits: dict[str, HitsBySeed] = {}
    steps, losses = defaultdict[str, BySeed](dict), defaultdict[str, BySeed](dict)
    labels, groups = read_annotations(pair_ids), premise_groups(pairs).numpy()
    for config, record, model in tqdm(list(retrained_models()), "evaluate", unit="model"):
        result = evaluate(model, pairs, config.input)
        name = {"model": config.model, "seed": config.seed}
        row = trial_row(config, record) | {
            "test_accuracy": result.accuracy,
            "test_pairs": len(result.rows),
            "test_mean_steps": result.metrics.mean_steps,
            "test_sd_steps": result.metrics.sd_steps,
        }
        by_model[config.model].append(row)
        right, (taken, loss) = split_hits(result, len(pairs)), effort(result, len(pairs))
        hits.setdefault(config.model, {})[config.seed] = right
        steps[config.model][config.seed], losses[config.model][config.seed] = taken, loss
        tables["results"].append(row)
        tables["agreement"] += agreement_rows(name, right, taken, loss, labels)
        tables["depth"] += depth_rows(name, result, pairs)
        tables["predictions"] += prediction_rows(name, result, pair_ids, pairs.classes)
        tables["lengths"] += length_rows(name, result, pairs)
        tables["correlations"] += correlation_rows(name, result, pairs)
    diverged = defaultdict[str, dict[str, int]](dict)  # epoch by seed
    for record in filter(is_lost, read_records("retrain")):
        diverged[record.config["model"]][f"seed_{record.config['seed']}"] = len(record.history)
    summary = {
        model: {
            "seeds": len(rows),
            **over_seeds(rows, "test_accuracy", "dev_accuracy"),
            "mean_steps": mean(rows, "test_mean_steps"),
            "parameters": rows[0]["parameters"],
            **({"diverged": diverged[model]} if model in diverged else {}),
        }
        for model, rows in by_model.items()
    }
    path = require_artifact("lexical_baseline", "predictions.csv")
    with path.open(encoding="utf-8", newline="") as file:
        hits["lexical_baseline"] = {0: prediction_hits(csv.DictReader(file), pair_ids)}
    reference = params.reference if params.reference in hits else next(iter(hits))
    tables["paired"] = paired_rows(hits, reference, groups)
    tables["difficulty"] = [*difficulty_rows(steps, losses, pairs, labels, groups)]
    write_results("evaluate", summary, **tables)


if __name__ == "__main__":
    run_stage(main)
