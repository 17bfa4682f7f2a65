"""Stage `lexical_baseline`: the feature-based classifier of Bowman et al. 2015, section 3.2.

Multinomial logistic regression with an L2 penalty selected by dev accuracy. The paper's table 1
reports 78.2 % on the test split of SNLI.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.datasets.features import Features
from pipeline.datasets.tokens import TokenPair, read_token_pairs
from pipeline.parameters.load import load_params
from pipeline.runtime.results import write_results
from pipeline.runtime.stage import require_artifact, run_stage

MODEL = "lexical_baseline"
NAME = {"model": MODEL, "seed": 0}  # deterministic, so one run
MAX_ITERATIONS = 5_000  # about 200 are needed


def read_split(split: str) -> tuple[list[TokenPair], NDArray[np.str_]]:
    """Return the pairs of a split and their labels; raise DataError if there are none."""
    path = require_artifact("vocabulary", f"{split}.tsv")
    pairs = list(tqdm(read_token_pairs(path), f"read {split}", unit=" pairs"))
    if not pairs:
        raise DataError(f"{path} has no pairs; give the corpus labeled {split} pairs")
    return pairs, np.array([pair.label for pair in pairs])


def fit(
    matrix: sparse.csr_matrix,
    labels: NDArray[np.str_],
    regularization: float,
    start: LogisticRegression | None = None,
) -> LogisticRegression:
    """Minimize the summed cross-entropy plus regularization / 2 times the sum of squared weights.

    start: where L-BFGS begins, which halves its iterations; None: at zero.

    Raises:
        DataError: all training pairs have the same label, or L-BFGS does not converge.
    """
    if len(set(labels)) < 2:
        raise DataError(
            "lexical_baseline: all training pairs have one label; expected at least two"
        )
    settings = {"solver": "lbfgs", "max_iter": MAX_ITERATIONS, "warm_start": True}
    model = LogisticRegression(C=1 / regularization, **settings)
    if start is not None:
        model.coef_, model.intercept_ = start.coef_, start.intercept_
    # bit-identical results on any number of cores
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            return model.fit(matrix, labels)
        except ConvergenceWarning as warning:
            problem = f"does not converge in {MAX_ITERATIONS} iterations; use a larger value"
            raise DataError(
                f"lexical_baseline.regularization {regularization} {problem}"
            ) from warning


def main() -> None:
    """Write artifacts/lexical_baseline/; test only the selected classifier."""
    params = load_params().lexical_baseline
    features = Features(params.features, params.min_count)
    pairs, labels = read_split("train")
    train = features.fit_transform(pairs), labels
    pairs, labels = read_split("dev")
    dev = features.transform(pairs), labels
    fits: dict[float, LogisticRegression] = {}
    for value in tqdm(params.regularization, "fit", unit="fit"):
        fits[value] = fit(*train, value, next(reversed(fits.values()), None))
    scores = {
        value: {
            "train_accuracy": float(model.score(*train)),
            "dev_accuracy": float(model.score(*dev)),
            "iterations": int(model.n_iter_[0]),
        }
        for value, model in fits.items()
    }
    # ties: the strongest penalty
    selected = max(fits, key=lambda value: (scores[value]["dev_accuracy"], value))
    model = fits[selected]

    pairs, labels = read_split("test")
    predictions = model.predict(features.transform(pairs))
    result: dict[str, Any] = {
        "regularization": selected,
        **{name: scores[selected][name] for name in ("train_accuracy", "dev_accuracy")},
        "test_accuracy": float((predictions == labels).mean()),
        "parameters": int(model.coef_.size + model.intercept_.size),
    }
    by_strength = {str(value): metrics for value, metrics in scores.items()}
    summary = {MODEL: result | {"features": features.sizes, "by_regularization": by_strength}}
    rows = [
        NAME | {"pair_id": pair.pair_id, "label": pair.label, "predicted": predicted}
        for pair, predicted in zip(pairs, predictions, strict=True)
    ]
    results = [NAME | result | {"test_pairs": len(rows)}]
    write_results(MODEL, summary, results=results, predictions=rows)


if __name__ == "__main__":
    run_stage(main)
