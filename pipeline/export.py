"""Stage `export`: write the retrained models as bundles and register them in MLflow.

artifacts/export/models/<model>/ is the bundle (see pipeline.inference.bundle) and the model card of
the seed with the highest dev accuracy (the first on a tie). artifacts/export/best.json names the
best model, by mean dev accuracy over seeds, and has the columns and labels of the training files,
by which `predict` reads others.
"""

from pathlib import Path
from typing import Any

from tqdm import tqdm

from actmodels.data.trial_data import WordVectors, input_vectors, trained_words
from actmodels.files import write_text
from actmodels.records import TrialRecord
from actmodels.trial_config import trial_from_dict
from pipeline.datasets.tokens import read_words
from pipeline.inference.bundle import write_bundle
from pipeline.inference.input_pairs import Layout
from pipeline.inference.model_card import model_card
from pipeline.inference.registry import register_exported
from pipeline.parameters.load import Params, load_params
from pipeline.runtime.results import data_classes, data_digest, read_json, write_json
from pipeline.runtime.stage import artifacts, clean_dir, require_artifact, run_stage
from pipeline.trials.models import load_model
from pipeline.trials.records import retrained, weights_file
from tune.selection import mean_accuracy


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
