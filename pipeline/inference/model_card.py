"""The model card of an exported model, with the front matter of the Hugging Face Hub."""

import csv
from typing import Any

import yaml

from actmodels.registry import MODELS
from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import Params
from pipeline.runtime.results import read_json
from pipeline.runtime.stage import require_artifact

CORPORA = {
    "captions": "the embedded corpus of generated captions, which this project wrote",
    "snli": "SNLI 1.0 (Bowman et al. 2015), CC BY-SA 4.0, or archives given in its place",
}
LICENCES = {"snli": "cc-by-sa-4.0"}  # of what weights were trained on; MIT for our own
HUB_DATASETS = {"snli": "stanfordnlp/snli"}
VECTORS = {
    "random": "random word vectors, which have no licence",
    "glove": "GloVe vectors (Pennington et al. 2014), Public Domain Dedication and License 1.0,\n"
    "  or those given in their place",
}


def model_card(config: TrialConfig, params: Params, dev_accuracy: float) -> str:
    """The card as markdown; figures in per cent, with their n.

    Raises:
        ArtifactError: what `tensors` or `evaluate` wrote is missing.
    """
    name, seed = config.model, config.seed
    pairs = read_json("tensors", "manifest.json")["pairs"]
    of_model = read_json("evaluate", "summary.json")[name]
    with require_artifact("evaluate", "results.csv").open(encoding="utf-8", newline="") as rows:
        tests = {(row["model"], row["seed"]): row["test_accuracy"] for row in csv.DictReader(rows)}
    own_test, seeds = float(tests[name, str(seed)]), of_model["seeds"]
    all_seeds = f"{of_model['test_accuracy_mean']:.1%} on average over {seeds} seeds"
    if (sd := of_model["test_accuracy_sd"]) is not None:
        all_seeds += f" (standard deviation {sd * 100:.2f} points)"
    steps = "decides by itself how many inference steps a pair needs"
    if MODELS[name].halting is None:
        steps = "takes no inference steps"
    return f"""{front_matter(name, params.corpus.source, own_test)}
# {name}, seed {seed}

Reads a premise and a hypothesis (English sentences) and says whether the premise entails the
hypothesis, contradicts it, or leaves it open (neutral).
It {steps}.

- Trained on {pairs["train"]:,} pairs of
  {CORPORA[params.corpus.source]}.
- Word vectors: {VECTORS[params.vectors.source]}.
- Dev accuracy {dev_accuracy:.1%} (n = {pairs["dev"]:,} pairs), by which it was chosen among its
  {seeds} seeds.
- Test accuracy {own_test:.1%} (n = {pairs["test"]:,} pairs);
  {all_seeds}.
- It knows such sentences as it was trained on, short descriptions of scenes, and nothing else:
  its probabilities are not calibrated, and on other text they mean little.

Weights are in `model.safetensors`, words in `words.txt`, everything else in `config.json`.
"""


def front_matter(name: str, corpus: str, test_accuracy: float) -> str:
    """The facts that the Hub's pages, filters and tables read."""
    dataset, task = HUB_DATASETS.get(corpus, corpus), "text-classification"
    result = {
        "task": {"type": task, "name": "NonNegativeInt Language Inference"},
        "dataset": {"type": dataset, "name": corpus, "split": "test"},
        "metrics": [{"type": "accuracy", "value": round(test_accuracy, 6)}],
    }
    facts: dict[str, Any] = {
        "language": "en",
        "license": LICENCES.get(corpus, "mit"),
        "library_name": "act-nli",
        "pipeline_tag": task,
        "tags": ["natural-language-inference", "adaptive-computation-time"],
        **({"datasets": [dataset]} if corpus in HUB_DATASETS else {}),
        "metrics": ["accuracy"],
        "model-index": [{"name": name, "results": [result]}],
    }
    return f"---\n{yaml.safe_dump(facts, sort_keys=False)}---\n"
