"""Write the model card of an exported model, with the metadata of the Hugging Face Hub."""

import csv
from typing import Any

import yaml

from actmodels.registry import MODELS
from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import Params
from pipeline.runtime.results import data_classes, diverged_seeds, read_json
from pipeline.runtime.stage import require_artifact

CORPORA = {
    "captions": "the embedded corpus of generated captions, which this project wrote",
    "snli": "SNLI 1.0 (Bowman et al. 2015), CC BY-SA 4.0, or archives configured instead",
    "files": "the files of `corpus.files` in params.yaml",
}
# License of the training data; MIT for generated pairs.
LICENSES = {"snli": "cc-by-sa-4.0", "files": "unknown"}
HUB_DATASETS = {"snli": "stanfordnlp/snli"}
VECTORS = {
    "random": "random word vectors, which have no license",
    "glove": "GloVe vectors (Pennington et al. 2014), Public Domain Dedication and License 1.0,\n"
    "  or vectors configured instead",
}


def model_card(config: TrialConfig, params: Params, dev_accuracy: float) -> str:
    """Return the card as markdown; accuracies in percent with n.

    Raises:
        ArtifactError: an output of stage `tensors` or `evaluate` is missing.
    """
    name, seed = config.model, config.seed
    pairs = read_json("tensors", "manifest.json")["pairs"]
    summary = read_json("evaluate", "summary.json")[name]
    with require_artifact("evaluate", "results.csv").open(encoding="utf-8", newline="") as rows:
        tests = {(row["model"], row["seed"]): row["test_accuracy"] for row in csv.DictReader(rows)}
    test_accuracy, seeds = float(tests[name, str(seed)]), summary["seeds"]
    all_seeds = f"{summary['test_accuracy_mean']:.1%} on average over {seeds} seeds"
    if (sd := summary["test_accuracy_sd"]) is not None:
        all_seeds += f" (standard deviation {sd * 100:.2f} points)"
    all_seeds += diverged_seeds(summary)
    steps = "adapts the number of inference steps to each pair"
    if MODELS[name].halting is None:
        steps = "takes no inference steps"
    task = "Predicts the class of a premise and a hypothesis"
    limits = "the probabilities are not calibrated"
    if params.corpus.source != "files":
        task = "Predicts whether an English premise entails a hypothesis, or contradicts it"
        limits = f"the training sentences are short descriptions of scenes; {limits}"
    return f"""{front_matter(name, params.corpus.source, test_accuracy)}
# {name}, seed {seed}

{task}: {", ".join(data_classes())}.
The model {steps}.

- Trained on {pairs["train"]:,} pairs of
  {CORPORA[params.corpus.source]}.
- Word vectors: {VECTORS[params.vectors.source]}.
- Dev accuracy {dev_accuracy:.1%} (n = {pairs["dev"]:,} pairs), the highest of {seeds} seeds.
- Test accuracy {test_accuracy:.1%} (n = {pairs["test"]:,} pairs);
  {all_seeds}.
- Limits: {limits}, and
  unreliable on other text.

Weights are in `model.safetensors`, the vocabulary in `words.txt`, the configuration in
`config.json`.
"""


def front_matter(name: str, corpus: str, test_accuracy: float) -> str:
    """Return the YAML metadata that the Hub indexes."""
    dataset, task = HUB_DATASETS.get(corpus, corpus), "text-classification"
    result = {
        "task": {"type": task, "name": "Sentence pair classification"},
        "dataset": {"type": dataset, "name": corpus, "split": "test"},
        "metrics": [{"type": "accuracy", "value": round(test_accuracy, 6)}],
    }
    facts: dict[str, Any] = {
        **({} if corpus == "files" else {"language": "en"}),
        "license": LICENSES.get(corpus, "mit"),
        "library_name": "actmodels",
        "pipeline_tag": task,
        "tags": ["sentence-pairs", "adaptive-computation-time"],
        **({"datasets": [dataset]} if corpus in HUB_DATASETS else {}),
        "metrics": ["accuracy"],
        "model-index": [{"name": name, "results": [result]}],
    }
    return f"---\n{yaml.safe_dump(facts, sort_keys=False)}---\n"
