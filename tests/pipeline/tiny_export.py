"""Tiny retrained models with the artifacts of the stages before `export`."""

import json
import shutil
from pathlib import Path

from actmodels.data.pairs import save_stored
from actmodels.data.trial_data import input_vectors, trained_words
from actmodels.files import write_text
from actmodels.models.pair_model import PairModel, build
from actmodels.records import TrialRecord
from actmodels.training import Training
from actmodels.trial_config import TrialConfig
from pipeline.inference.bundle import write_bundle
from pipeline.runtime.results import write_json, write_table
from tests.pipeline.project import params_tree
from tests.samples import CLASSES, WORDS, sample_data, sample_trial, sample_words, save_sample_data

ROOT = Path(__file__).parents[2]
VOCABULARY = [f"word{number}" for number in range(WORDS)]
PAIRS = [
    ("word1 word2, word3.", "word4"),
    ("word5 unheard word6 word7 word8", "word9 word10 word11"),
    ("Word12", "word13 word14 word15 word16 word17 word18?"),
    ("word19 word20", "word21 word22"),
]
ORIGIN = {"key": "0123456789abcdef", "seed": 1, "dev_accuracy": 0.5, "dev_pairs": 24}


def tiny_model(config: TrialConfig) -> PairModel:
    """Build an untrained model in evaluation mode."""
    words = sample_words()
    vectors = input_vectors(words, config.input, config.seed)
    return build(config, vectors, 3, trained_words(words, config.input)).eval()


def write_tiny(folder: Path, config: TrialConfig, model: PairModel | None = None) -> PairModel:
    """Write the bundle of an untrained model; return the model."""
    model = model or tiny_model(config)
    words, names = sample_words(), (CLASSES, VOCABULARY)
    vectors = (input_vectors(words, config.input, config.seed), trained_words(words, config.input))
    write_bundle(folder, config, model, vectors, *names, lowercase=True, origin=ORIGIN)
    return model


def digest_of(folder: Path) -> str:
    """Return the digest in a bundle."""
    return str(json.loads((folder / "config.json").read_text())["digest"])


def write_export(root: Path, *configs: TrialConfig) -> None:
    """Write exported models; the first is the best."""
    folder, models = root / "artifacts" / "export" / "models", {}
    for config in configs:
        write_tiny(folder / config.model, config)
        digest = digest_of(folder / config.model)
        mean = {"dev_accuracy_mean": 0.4 if models else 0.5}
        models[config.model] = {**ORIGIN, "digest": digest, **mean}
    files = params_tree()["corpus"]["files"]
    layout = {key: files[key] for key in ("columns", "labels", "quotes")} | {"classes": CLASSES}
    export = {"best": configs[0].model, "models": models, "files": layout}
    write_json(root / "artifacts" / "export" / "best.json", export)


def trained(root: Path, *configs: TrialConfig) -> tuple[list[Training], list[TrialRecord]]:
    """Train models and write the artifacts of `tensors` and `retrain`."""
    artifacts = root / "artifacts"
    (artifacts / "tensors").mkdir(parents=True)
    save_sample_data(artifacts / "tensors")
    write_json(artifacts / "tensors" / "manifest.json", {"digest": "d", "classes": CLASSES})
    trainings, records = [Training(config, sample_data()) for config in configs], []
    for training in trainings:
        history, config = tuple(training.epochs()), training.config
        name = f"{config.model}-seed{config.seed}"
        save_stored(training.best_parameters, artifacts / "retrain" / "weights" / f"{name}.pt")
        stored, parameters = config.as_dict(), training.parameters
        records.append(TrialRecord(name, stored, parameters, history, {"data": "d"}))
    lines = "".join(record.result_json() + "\n" for record in records)
    write_text(artifacts / "retrain" / "records.jsonl", lines)
    return trainings, records


def retrained(root: Path, *configs: TrialConfig) -> list[TrialRecord]:
    """Train models and write all inputs of `export`, including params.yaml."""
    artifacts, (_, records) = root / "artifacts", trained(root, *configs)
    counts = "".join(f"{word}\t1\n" for word in VOCABULARY)
    write_text(artifacts / "vocabulary" / "words.tsv", counts)
    manifest = {
        "digest": "d1d2d3",
        "classes": CLASSES,
        "pairs": {"train": 48, "dev": 24, "test": 12},
    }
    write_json(artifacts / "tensors" / "manifest.json", manifest)
    write_evaluation(artifacts / "evaluate", configs)
    shutil.copy(ROOT / "params.yaml", root / "params.yaml")
    return records


def write_evaluation(folder: Path, configs: tuple[TrialConfig, ...]) -> None:
    """Write the metrics of `evaluate`: seed n has a test accuracy of n tenths."""
    rows = [{"model": c.model, "seed": c.seed, "test_accuracy": c.seed / 10} for c in configs]
    write_table(folder / "results.csv", rows, " ".join(rows[0]))
    metrics = {"seeds": 2, "test_accuracy_mean": 0.25, "test_accuracy_sd": 0.0123}
    write_json(folder / "summary.json", {config.model: metrics for config in configs})


def tiny_trials() -> list[TrialConfig]:
    """Return two seeds of a model with inference steps, and one of a model without."""
    return [
        sample_trial("adaptive_attention", max_epochs=1, seed=1),
        sample_trial("adaptive_attention", max_epochs=1, seed=2),
        sample_trial("decomposable_attention", max_epochs=1, null_token=True),
    ]
