"""Stage `lexicalised`: the feature-based classifier of Bowman et al. 2015, section 3.2.

It is the first row of the paper's table 1 (78.2 % on the test split of SNLI).
"""

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import sklearn
from tqdm import tqdm

from actmodels.data.labels import LABELS
from actmodels.errors import DataError
from pipeline.lexical.classifier import Fit, Split, best, fit
from pipeline.lexical.features import Features
from pipeline.parameters.load import load_params
from pipeline.parameters.section import SPLITS
from pipeline.running.results import write_json, write_table
from pipeline.running.stage import artefacts, made, run_stage, state_folder
from pipeline.sources.encode import files_digest
from pipeline.sources.tokens import TokenPair, read_token_pairs
from tune.provenance import provenance_tags
from tune.results import log_evaluation

# Nothing is drawn at random, so there is one run; its seed is 0.
NAME = {"model": "lexicalised_classifier", "seed": 0}


def read_split(split: str, features: Features) -> tuple[Split, list[str]]:
    """A split in numbers and the ids of its pairs; training pairs define the columns.

    Raises:
        DataError: the split has no pair.
    """
    path = made("vocabulary", f"{split}.tsv")
    labels, pair_ids = array("q"), []

    def pairs() -> Iterator[TokenPair]:
        for pair in tqdm(read_token_pairs(path), f"features {split}", unit=" pairs"):
            labels.append(LABELS.index(pair.label))
            pair_ids.append(pair.pair_id)
            yield pair
        if not pair_ids:
            raise DataError(f"{path} has no pairs; give the corpus labelled {split} pairs")

    matrix = features.fit_transform(pairs()) if split == "train" else features.transform(pairs())
    return Split(matrix, np.array(labels, dtype=np.int64)), pair_ids


def summarise(fits: list[Fit], chosen: Fit, test_accuracy: float, sizes: dict[str, int]) -> Any:
    """What was chosen and among what; accuracies in [0, 1]."""
    return {
        str(NAME["model"]): {
            "regularisation": chosen.regularisation,
            "train_accuracy": chosen.train_accuracy,
            "dev_accuracy": chosen.dev_accuracy,
            "test_accuracy": test_accuracy,
            "parameters": chosen.parameters,
            "features": sizes,
            "by_regularisation": {
                str(fitted.regularisation): {
                    "train_accuracy": fitted.train_accuracy,
                    "dev_accuracy": fitted.dev_accuracy,
                    "iterations": fitted.iterations,
                }
                for fitted in fits
            },
        }
    }


def prediction_rows(pair_ids: list[str], labels: list[int], predictions: list[int]) -> Any:
    """One row per test pair, in the form that stage `evaluate` gives it."""
    return [
        NAME | {"pair_id": i, "label": LABELS[y], "predicted": LABELS[p], "steps": None}
        for i, y, p in zip(pair_ids, labels, predictions, strict=True)
    ]


def main() -> None:
    """Write artefacts/lexicalised/; the test split is read last, by the chosen classifier alone."""
    params = load_params().lexicalised
    folder = artefacts("lexicalised")
    features = Features(params.features, params.min_count)
    train, _ = read_split("train", features)
    dev, _ = read_split("dev", features)
    fits = [fit(train, dev, value) for value in tqdm(params.regularisation, "fit", unit="fit")]
    chosen = best(fits)

    test, pair_ids = read_split("test", features)
    predictions = chosen.predict(test.features)
    accuracy = float(np.mean(predictions == test.labels))
    result = NAME | {"parameters": chosen.parameters, "regularisation": chosen.regularisation}
    result |= {"dev_accuracy": chosen.dev_accuracy, "test_accuracy": accuracy}
    summary = summarise(fits, chosen, accuracy, features.sizes)
    rows = prediction_rows(pair_ids, test.labels.tolist(), predictions.tolist())
    write_table(folder / "results.csv", [result | {"test_pairs": len(pair_ids)}])
    write_table(folder / "predictions.csv", rows)
    write_json(folder / "summary.json", summary)

    data = files_digest([made("vocabulary", f"{split}.tsv") for split in SPLITS])
    run = files_digest([folder / "predictions.csv", folder / "summary.json"])[:16]
    tags = {"data_digest": data, "scikit_learn_version": sklearn.__version__}
    log_evaluation("lexicalised", run, provenance_tags() | tags, summary, state_folder())


if __name__ == "__main__":
    run_stage(main)
