"""Write the model card of an exported model, with the metadata of the Hugging Face Hub."""

import csv

from actmodels.registry import MODELS
from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import Params
from pipeline.runtime.results import data_classes, diverged_seeds, read_json
from pipeline.runtime.stage import require_artifact

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
