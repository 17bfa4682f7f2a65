"""Training: resumption to the bit, early stopping, divergence, the optimisers."""

import io

import pytest
import torch

from actmodels.records import EpochRecord
from actmodels.training import Training, build_optimizer
from tests.samples import MODELS, sample_data, sample_trial


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
def test_resumed_equals_undisturbed(model: str, optimizer: str) -> None:
    """Saved after epoch 2 and taken up in a new process' stead: the same bits to the end."""
    config, data = sample_trial(model, max_epochs=4, optimizer=optimizer), sample_data()
    undisturbed = Training(config, data)
    whole = [record.result() for record in undisturbed.epochs()]

    first = Training(config, data)
    epochs = first.epochs()
    next(epochs), next(epochs)
    buffer = io.BytesIO()
    torch.save(first.state_dict(), buffer)
    buffer.seek(0)
    torch.manual_seed(99)  # a new process has other random numbers
    second = Training(config, data)
    second.load_state_dict(torch.load(buffer, weights_only=True))
    assert [r.epoch for r in second.epochs()] == [3, 4]
    assert [r.result() for r in second.history] == whole
    for name, value in undisturbed.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name])
    for name, value in undisturbed.best_parameters.items():
        assert torch.equal(value, second.best_parameters[name])


def record(epoch: int, dev_accuracy: float) -> EpochRecord:
    return EpochRecord(epoch, 0, 0, None, None, None, 0, dev_accuracy, None, None, None, 0, 0)


def test_patience_counts_epochs_without_a_better_dev_accuracy() -> None:
    training = Training(sample_trial(MODELS[0], max_epochs=50, patience=2), sample_data())
    for epoch, accuracy in enumerate([0.5, 0.6, 0.6, 0.55], start=1):
        assert not training.finished
        training.history.append(record(epoch, accuracy))
    assert training.finished
    assert training.best_epoch == 2  # an equal accuracy later does not count as better


def test_best_parameters_are_those_of_the_best_epoch() -> None:
    training = Training(sample_trial(MODELS[1], max_epochs=8, learning_rate=0.05), sample_data())
    states = []
    for _ in training.epochs():
        states.append({k: v.clone() for k, v in training.model.state_dict().items()})
    best = states[training.best_epoch - 1]
    assert all(torch.equal(best[k], v) for k, v in training.best_parameters.items())


def test_a_diverged_trial_ends_on_its_last_good_parameters() -> None:
    training = Training(sample_trial(MODELS[1], max_epochs=5), sample_data())
    epochs = training.epochs()
    next(epochs)
    good = {k: v.clone() for k, v in training.model.state_dict().items()}
    training.model.words.vectors[3:] = float("nan")
    next(epochs)
    assert training.diverged and training.finished
    assert all(torch.equal(good[k], v) for k, v in training.model.state_dict().items())


def test_one_adagrad_step_by_hand() -> None:
    """w - lr · g / sqrt(accumulator + g²), with the accumulator at 0.1."""
    config = sample_trial(MODELS[0], optimizer="adagrad", learning_rate=0.5)
    training = Training(config, sample_data())
    optimizer = build_optimizer(training.model, config.training)
    parameter = training.model.classify.bias
    parameter.grad = torch.tensor([0.3, 0.0, -2.0])
    optimizer.step()
    expected = [-0.5 * g / (0.1 + g * g) ** 0.5 for g in (0.3, 0.0, -2.0)]
    assert parameter.tolist() == pytest.approx(expected, rel=1e-5)
