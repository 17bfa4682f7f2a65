"""Multinomial logistic regression with an L2 penalty, whose strength dev accuracy chooses."""

import warnings
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from actmodels.errors import DataError

MAX_ITERATIONS = 5_000  # some 200 are needed
Labels = NDArray[np.int64]


class Split(NamedTuple):
    """A split as numbers. features: [pairs, columns]. labels: [pairs], index into LABELS."""

    features: sparse.csr_matrix
    labels: Labels


class Fit(NamedTuple):
    """A fitted classifier; accuracies are in [0, 1].

    regularisation: the classifier minimises the cross-entropy, summed over the training pairs,
        plus regularisation / 2 times the sum of its squared weights (scikit-learn's 1 / C).
    iterations: of L-BFGS.
    """

    regularisation: float
    train_accuracy: float
    dev_accuracy: float
    iterations: int
    model: LogisticRegression

    @property
    def parameters(self) -> int:
        """Weights and biases: (columns + 1) for each label."""
        return int(self.model.coef_.size + self.model.intercept_.size)

    def predict(self, features: sparse.csr_matrix) -> Labels:
        """The likeliest label of each pair [pairs]."""
        predictions: Labels = self.model.predict(features)
        return predictions


def fit(train: Split, dev: Split, regularisation: float) -> Fit:
    """Train with one strength of the penalty.

    L-BFGS draws nothing at random: on one type of processor equal pairs give equal weights, and
    replicates would be copies. OpenBLAS sums in another order on another type, and scikit-learn's
    tolerance (1e-4) stops L-BFGS early: 1,307 to 1,309 of the demo's 1,500 test pairs are right
    with four kernels of OpenBLAS, 1,312 with each of them at 1e-8 (five times the iterations).
    On the embedded corpus stochastic gradient descent (SGDClassifier, three seeds, three
    strengths) took a tenth of the time and was 0.6 to 3.0 points worse on dev; SAGA took as
    long and had not converged.

    Raises:
        DataError: training pairs bear fewer than two labels, or L-BFGS does not converge.
    """
    if len(np.unique(train.labels)) < 2:
        raise DataError(
            "lexicalised: all training pairs have the same label; there is nothing to learn"
        )
    model = LogisticRegression(C=1 / regularisation, solver="lbfgs", max_iter=MAX_ITERATIONS)
    # one thread: the same bits whatever the machine's number of cores
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(train.features, train.labels)
        except ConvergenceWarning as warning:
            raise DataError(
                f"lexicalised.regularisation {regularisation} does not converge in "
                f"{MAX_ITERATIONS} iterations; use a larger value"
            ) from warning
    on_train, on_dev = (float(model.score(*split)) for split in (train, dev))
    return Fit(regularisation, on_train, on_dev, int(model.n_iter_[0]), model)


def best(fits: Iterable[Fit]) -> Fit:
    """The fit of the best dev accuracy; of equals the one with the strongest penalty."""
    return max(fits, key=lambda fit: (fit.dev_accuracy, fit.regularisation))
