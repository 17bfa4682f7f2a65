"""The classifier on matrices made by hand."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax

from actmodels.errors import DataError
from pipeline.lexical import classifier
from pipeline.lexical.classifier import Fit, Split, best, fit


def split(seed: int, pairs: int = 60) -> Split:
    """Three classes that the first three of six columns tell apart, with noise."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, pairs)
    features = random.random((pairs, 6)) < 0.3
    features[np.arange(pairs), labels] |= random.random(pairs) < 0.8
    return Split(sparse.csr_matrix(features.astype(float)), labels)


def objective(one: Fit, data: Split, shift: float = 0.0) -> float:
    weights = one.model.coef_ + shift
    scores = data.features @ weights.T + one.model.intercept_
    chosen = log_softmax(scores, axis=1)[np.arange(len(data.labels)), data.labels]
    return float(-chosen.sum() + one.regularisation / 2 * (weights**2).sum())


@pytest.mark.parametrize("regularisation", [0.5, 1.0, 20.0])
def test_weights_minimise_the_stated_objective(regularisation: float) -> None:
    """Against central differences: the gradient of loss plus penalty is nothing."""
    train = split(1)
    one = fit(train, split(2), regularisation)
    reached = objective(one, train)
    for place in np.ndindex(one.model.coef_.shape):
        sides = []
        for step in (-1e-3, 1e-3):
            shift = np.zeros(one.model.coef_.shape)
            shift[place] = step
            sides.append(objective(one, train, shift))
        assert min(sides) > reached - 1e-4
        assert abs(sides[1] - sides[0]) / 2e-3 < 0.02


def test_accuracies_and_size() -> None:
    train, dev = split(1), split(2)
    one = fit(train, dev, 1.0)
    assert one.train_accuracy == np.mean(one.predict(train.features) == train.labels)
    assert one.dev_accuracy == np.mean(one.predict(dev.features) == dev.labels)
    assert min(one.train_accuracy, one.dev_accuracy) > 0.5
    assert one.train_accuracy != one.dev_accuracy
    assert one.parameters == 3 * (6 + 1)
    assert one.iterations > 0


def test_equal_pairs_give_equal_bits_whatever_was_fitted_in_between() -> None:
    first, _, again = (fit(split(1), split(2), strength) for strength in (1.0, 30.0, 1.0))
    assert first.model.coef_.tobytes() == again.model.coef_.tobytes()
    assert first.model.intercept_.tobytes() == again.model.intercept_.tobytes()


def test_dev_chooses_and_of_equals_the_strongest_penalty() -> None:
    fits = [Fit(1.0, 0.99, 0.6, 9, None), Fit(2.0, 0.7, 0.7, 9, None), Fit(4.0, 0.8, 0.65, 9, None)]
    assert best(fits).regularisation == 2.0
    assert best([*fits, Fit(3.0, 0.6, 0.7, 9, None)]).regularisation == 3.0


def test_training_pairs_of_one_label_are_told() -> None:
    train = split(1)._replace(labels=np.zeros(60, dtype=np.int64))
    with pytest.raises(DataError, match=r"^lexicalised: all training pairs have the same label;"):
        fit(train, split(2), 1.0)


def test_a_fit_that_does_not_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, "MAX_ITERATIONS", 1)
    message = r"^lexicalised\.regularisation 0\.5 does not converge in 1 iterations; use a larger"
    with pytest.raises(DataError, match=message):
        fit(split(1), split(2), 0.5)
