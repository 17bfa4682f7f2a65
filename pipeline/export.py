"""Stage `export`: write the retrained models as bundles and register them in MLflow.

artifacts/export/models/<model>/ is the bundle (see pipeline.inference.bundle) and the model card of
the seed with the highest dev accuracy (the first on a tie). artifacts/export/best.json names the
best model, by mean dev accuracy over seeds, and has the columns and labels of the training files,
by which `predict` reads others.
"""

import csv
from pathlib import Path
from typing import Any

from tqdm import tqdm

from actmodels.data.trial_data import WordVectors, input_vectors, trained_words
from actmodels.files import write_text
from actmodels.records import TrialRecord
from actmodels.registry import MODELS
from actmodels.trial_config import TrialConfig, trial_from_dict
from pipeline.datasets.tokens import read_words
from pipeline.inference.bundle import write_bundle
from pipeline.inference.input_pairs import Layout
from pipeline.inference.registry import register_exported
from pipeline.parameters.load import Params, load_params
from pipeline.runtime.results import (
    data_classes,
    data_digest,
    diverged_seeds,
    read_json,
    write_json,
)
from pipeline.runtime.stage import artifacts, clean_dir, require_artifact, run_stage
from pipeline.trials.models import load_model
from pipeline.trials.records import retrained, weights_file
from pipeline.trials.selection import mean_accuracy

LICENSES = {"captions": "mit", "snli": "cc-by-sa-4.0"}  # the user's data have an unknown one


def model_card(config: TrialConfig, params: Params, dev_accuracy: float) -> str:
    """Return the card as markdown; accuracies in percent with n.

    Raises:
        ArtifactError: an output of stage `tensors` or `evaluate` is missing.
    """
    name, seed, corpus = config.model, config.seed, params.corpus.source
    pairs = read_json("tensors", "manifest.json")["pairs"]
    summary = read_json("evaluate", "summary.json")[name]
    seeds, sd = summary["seeds"], summary["test_accuracy_sd"]
    with require_artifact("evaluate", "results.csv").open(encoding="utf-8", newline="") as rows:
        tests = {(row["model"], row["seed"]): row["test_accuracy"] for row in csv.DictReader(rows)}
    test_accuracy = float(tests[name, str(seed)])
    all_seeds = f"{summary['test_accuracy_mean']:.1%} on average over {seeds} seeds"
    all_seeds += "" if sd is None else f" (standard deviation {sd * 100:.2f} points)"
    steps = "adapts the number of inference steps to each pair"
    return f"""---
license: {LICENSES.get(corpus, "unknown")}
library_name: actmodels
pipeline_tag: text-classification
tags: [sentence-pairs, adaptive-computation-time]
metrics: [accuracy]
model-index:
- name: {name}
  results:
  - task: {{type: text-classification, name: Sentence pair classification}}
    dataset: {{type: {corpus}, name: {corpus}, split: test}}
    metrics: [{{type: accuracy, value: {test_accuracy:.6f}}}]
---

# {name}, seed {seed}

Predicts the class of a premise and a hypothesis: {", ".join(data_classes())}.
The model {steps if MODELS[name].halting else "takes no inference steps"}.

- Trained on {pairs["train"]:,} pairs (`corpus.source: {corpus}`), with word vectors of
  `vectors.source: {params.vectors.source}`.
- Dev accuracy {dev_accuracy:.1%} (n = {pairs["dev"]:,} pairs), the highest of {seeds} seeds.
- Test accuracy {test_accuracy:.1%} (n = {pairs["test"]:,} pairs);
  {all_seeds}{diverged_seeds(summary)}.
- Limits: the probabilities are not calibrated, and unreliable on other text.

Weights are in `model.safetensors`, the vocabulary in `words.txt`, the configuration in
`config.json`.
"""


def best_seeds(records: list[TrialRecord]) -> tuple[dict[str, TrialRecord], dict[str, float]]:
    """Return each model's record with the highest dev accuracy, the first on a tie, and its mean.

    The mean is over seeds; the best model has the highest.
    """
    seeds: dict[str, list[TrialRecord]] = {}
    for record in records:
        seeds.setdefault(record.config["model"], []).append(record)
    best = {name: max(runs, key=lambda run: run.best.dev_accuracy) for name, runs in seeds.items()}
    return best, {name: mean_accuracy(runs) for name, runs in seeds.items()}


def write_models(folder: Path, chosen: dict[str, TrialRecord], params: Params) -> dict[str, Any]:
    """Write the bundle and the card of each model; return the entries of best.json."""
    vectors = WordVectors.load(artifacts("tensors", "embedding.pt"))
    words = read_words(require_artifact("vocabulary", "words.tsv"))[: params.vocabulary.size]
    data, classes = data_digest(), data_classes()
    dev_pairs = read_json("tensors", "manifest.json")["pairs"]["dev"]
    models = {}
    for name, record in tqdm(chosen.items(), "export", unit="model"):
        config = trial_from_dict(record.config)
        origin = {
            "key": record.key,
            "seed": config.seed,
            "dev_accuracy": record.best.dev_accuracy,
            "dev_pairs": dev_pairs,
            "data_digest": data,
        }
        digest = write_bundle(
            folder / name,
            config,
            load_model(config, vectors, len(classes), weights_file(config), "retrain"),
            (
                input_vectors(vectors, config.input, config.seed),
                trained_words(vectors, config.input),
            ),
            classes,
            words,
            lowercase=params.vocabulary.lowercase,
            origin=origin,
        )
        card = model_card(config, params, record.best.dev_accuracy)
        write_text(folder / name / "README.md", card)
        models[name] = {**origin, "parameters": record.parameters, "digest": digest}
    return models


def main() -> None:
    """Write artifacts/export/ and register the models."""
    params = load_params()
    chosen, means = best_seeds(retrained())
    folder = artifacts("export", "models")
    with clean_dir(folder):
        models = write_models(folder, chosen, params)
    for name, mean in means.items():
        models[name]["dev_accuracy_mean"] = mean
    best = max(means, key=means.__getitem__)
    files = params.corpus.files
    layout = Layout(files.columns, files.labels, params.corpus.classes, files.quotes)._asdict()
    export = {"best": best, "models": models, "files": layout}
    write_json(artifacts("export", "best.json"), export)
    for uri, version in register_exported(params.export.name).items():
        print(f"{uri} is version {version}")


if __name__ == "__main__":
    run_stage(main)
