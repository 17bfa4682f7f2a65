"""Stage `lexicalised`: the feature-based classifier of Bowman et al. 2015, section 3.2.

It is the first row of the paper's table 1 (78.2 % on the test split of SNLI): multinomial logistic
regression with an L2 penalty, whose strength dev accuracy chooses.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.lexical.features import Features
from pipeline.parameters.load import load_params
from pipeline.parameters.section import SPLITS
from pipeline.running.results import write_json, write_table
from pipeline.running.stage import artefacts, made, run_stage, state_folder
from pipeline.sources.encode import files_digest
from pipeline.sources.tokens import TokenPair, read_token_pairs
from tune.provenance import provenance_tags
from tune.results import log_evaluation

MODEL = "lexicalised_classifier"
NAME = {"model": MODEL, "seed": 0}  # nothing is drawn at random, so there is one run
MAX_ITERATIONS = 5_000  # some 200 are needed


class Split(NamedTuple):
    """A split as features [pairs, columns], and the label and the id of each pair."""

    features: sparse.csr_matrix
    labels: NDArray[np.str_]
    pair_ids: list[str]


def read_split(split: str, transform: Callable[[list[TokenPair]], sparse.csr_matrix]) -> Split:
    """Read a split and transform its pairs to features.

    Raises:
        DataError: the split has no pair.
    """
    path = made("vocabulary", f"{split}.tsv")
    pairs = list(tqdm(read_token_pairs(path), f"read {split}", unit=" pairs"))
    if not pairs:
        raise DataError(f"{path} has no pairs; give the corpus labelled {split} pairs")
    labels = np.array([pair.label for pair in pairs])
    return Split(transform(pairs), labels, [pair.pair_id for pair in pairs])


def fit(train: Split, regularisation: float) -> LogisticRegression:
    """Minimise the summed cross-entropy plus regularisation / 2 times the sum of squared weights.

    L-BFGS draws nothing at random, so replicates would be copies.

    Raises:
        DataError: training pairs bear fewer than two labels, or L-BFGS does not converge.
    """
    if len(set(train.labels)) < 2:
        raise DataError(
            "lexicalised: all training pairs have the same label; there is nothing to learn"
        )
    model = LogisticRegression(C=1 / regularisation, solver="lbfgs", max_iter=MAX_ITERATIONS)
    # one thread: the same bits whatever the machine's number of cores
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            return model.fit(train.features, train.labels)
        except ConvergenceWarning as warning:
            raise DataError(
                f"lexicalised.regularisation {regularisation} does not converge in "
                f"{MAX_ITERATIONS} iterations; use a larger value"
            ) from warning


def accuracy(model: LogisticRegression, split: Split) -> float:
    """The share of pairs whose label is predicted, in [0, 1]."""
    return float(model.score(split.features, split.labels))


def main() -> None:
    """Write artefacts/lexicalised/; the test split is read last, by the chosen classifier alone."""
    params = load_params().lexicalised
    folder = artefacts("lexicalised")
    features = Features(params.features, params.min_count)
    train = read_split("train", features.fit_transform)
    dev = read_split("dev", features.transform)
    fits = {value: fit(train, value) for value in tqdm(params.regularisation, "fit", unit="fit")}
    reached = {
        value: {
            "train_accuracy": accuracy(model, train),
            "dev_accuracy": accuracy(model, dev),
            "iterations": int(model.n_iter_[0]),
        }
        for value, model in fits.items()
    }
    # of equals the strongest penalty
    chosen = max(fits, key=lambda value: (reached[value]["dev_accuracy"], value))
    model = fits[chosen]

    test = read_split("test", features.transform)
    predictions = model.predict(test.features)
    result: dict[str, Any] = {
        "regularisation": chosen,
        "train_accuracy": reached[chosen]["train_accuracy"],
        "dev_accuracy": reached[chosen]["dev_accuracy"],
        "test_accuracy": float((predictions == test.labels).mean()),
        "parameters": int(model.coef_.size + model.intercept_.size),
    }
    by_strength = {str(value): figures for value, figures in reached.items()}
    summary = {MODEL: result | {"features": features.sizes, "by_regularisation": by_strength}}
    predicted = zip(test.pair_ids, test.labels, predictions, strict=True)
    rows = [NAME | {"pair_id": i, "label": y, "predicted": p} for i, y, p in predicted]
    write_table(folder / "results.csv", [NAME | result | {"test_pairs": len(rows)}])
    write_table(folder / "predictions.csv", rows)
    write_json(folder / "summary.json", summary)

    data = files_digest([made("vocabulary", f"{split}.tsv") for split in SPLITS])
    run = files_digest([folder / "predictions.csv", folder / "summary.json"])[:16]
    tags = {"data_digest": data, "scikit_learn_version": sklearn.__version__}
    log_evaluation("lexicalised", run, provenance_tags() | tags, summary, state_folder())


if __name__ == "__main__":
    run_stage(main)
