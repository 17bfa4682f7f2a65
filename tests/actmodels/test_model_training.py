"""Training of every trial type: resuming, patience, divergence, best epoch, optimizers."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from actmodels.model_training import AnyTraining
from actmodels.records import EpochRecord, best_epoch
from actmodels.registry import deviations, load_class
from actmodels.training import Training
from actmodels.trial_config import BaseTrialConfig, TrialConfig
from studies.cloze.config import ReaderTrialConfig
from studies.multihop.config import MultihopTrialConfig
from studies.sequences.config import SequenceTrialConfig
from tests.model_checks import assert_resumed, same
from tests.samples import MODELS, sample_data, sample_trial
from tests.studies.cloze.samples import reader_data, reader_trial
from tests.studies.multihop.samples import multihop_trial, sample_multihop_data
from tests.studies.sequences.samples import ACT, CHARACTERS, GENERATED, TEXT
from tests.studies.sequences.samples import sample_trial as sequence_trial

TARGET = sample_trial("adaptive_attention_target_steps").halting
DATA = {
    TrialConfig: sample_data(),
    MultihopTrialConfig: sample_multihop_data(),
    SequenceTrialConfig: TEXT,
    ReaderTrialConfig: reader_data(),
}


def start_training(config: BaseTrialConfig) -> AnyTraining:
    return load_class(config.trainer)(config, DATA[type(config)])


def of_sequences(task: Any, halting: Any, cell: Any) -> SequenceTrialConfig:
    network = replace(sequence_trial().network, cell=cell)
    return sequence_trial(task=task, halting=halting, network=network)


def all_deviations(model: str) -> BaseTrialConfig:
    return sample_trial(
        f"{model}_as_published",
        **dict.fromkeys(deviations(model) - {"evaluation_batch_size"}, True),
    )


RESUMED: list[tuple[BaseTrialConfig, int]] = [  # and the epochs before it is resumed
    *(
        (sample_trial(model, max_epochs=4, optimizer="adagrad", oov_rule=rule), epochs)
        for model in (*MODELS, "word_by_word_attention")  # test_models.py has all, with Adam
        for rule, epochs in (("own", 2), ("trained", 1))
    ),
    *((all_deviations(model), 1) for model in MODELS),
    (sample_trial(MODELS[0], max_epochs=4, final_rate=0.1), 2),
    *((of_sequences(task, ACT, "lstm"), 1) for task in (*GENERATED, CHARACTERS)),
    *((of_sequences(GENERATED[1], halting, "rnn"), 1) for halting in (TARGET, None)),
    *(
        (multihop_trial(model), epochs)
        for model in ("hop_attention", "decomposable_attention")
        for epochs in (1, 2, 3)
    ),
    *(
        (reader_trial(strategy=strategy), epochs)
        for strategy in ("query_gating", "adaptive_computation")
        for epochs in (1, 2, 3)
    ),
]
TYPES: list[BaseTrialConfig] = [
    sample_trial(MODELS[0]),
    sample_trial(MODELS[1]),
    sequence_trial(),
    reader_trial(),
]
each_type = pytest.mark.parametrize("config", TYPES, ids=lambda config: config.model)


@pytest.mark.parametrize(("config", "epochs"), RESUMED, ids=lambda v: getattr(v, "model", str(v)))
def test_resumed_equals_uninterrupted(config: BaseTrialConfig, epochs: int) -> None:
    assert_resumed(lambda: start_training(config), epochs)


def record(epoch: int, dev_accuracy: float) -> EpochRecord:
    return EpochRecord(epoch, 0, 0, None, None, None, 0, dev_accuracy, None, None, None, 0, 0)


@each_type
def test_patience_counts_epochs_without_a_better_dev_accuracy(config: BaseTrialConfig) -> None:
    training = start_training(replace(config, max_epochs=50, patience=2))
    for epoch, accuracy in enumerate([0.5, 0.6, 0.6, 0.55], start=1):
        assert not training.finished
        training.history.append(record(epoch, accuracy))
    assert training.finished
    assert training.best_epoch == 2  # an equal accuracy later does not count as better


def test_without_an_error_a_lower_loss_in_no_more_steps_is_better() -> None:
    def chosen(accuracy: float, *epochs: tuple[float, float]) -> int:
        base = record(1, accuracy)
        history = [
            replace(base, epoch=number, dev_loss=loss, dev_mean_steps=steps)
            for number, (loss, steps) in enumerate(epochs, 1)
        ]
        return best_epoch(history).epoch

    assert chosen(1.0, (0.2, 4.0), (0.1, 3.9), (0.3, 3.8), (0.05, 4.1)) == 2
    assert chosen(0.9, (0.2, 4.0), (0.1, 3.9)) == 1
    assert chosen(0.9, (0.2, 4.0), (0.3, 3.3)) == 2  # a sixth of the steps


@each_type
def test_best_parameters_are_those_of_the_best_epoch(config: BaseTrialConfig) -> None:
    training = start_training(replace(config, max_epochs=8))
    states = []
    for _ in training.epochs():
        states.append({k: v.clone() for k, v in training.model.state_dict().items()})
    assert same(states[training.best_epoch - 1], training.best_parameters)


@each_type
def test_a_diverged_trial_ends_on_its_last_good_parameters(
    config: BaseTrialConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = start_training(replace(config, max_epochs=5))
    training.run_epoch()
    good = {k: v.clone() for k, v in training.model.state_dict().items()}
    objective, calls = training.objective, iter(range(100))

    def broken(*args: Any) -> torch.Tensor:
        return objective(*args) * (math.nan if next(calls) == 3 else 1.0)

    monkeypatch.setattr(training, "objective", broken)
    record = training.run_epoch()
    assert training.diverged and training.finished
    assert same(good, training.model.state_dict())
    assert next(calls) == 4  # the epoch ended there
    assert math.isfinite(record.dev_loss) and math.isfinite(record.train_loss)
    resumed = start_training(replace(config, max_epochs=5))
    resumed.load_state_dict(training.state_dict())
    assert resumed.diverged and resumed.finished


@pytest.mark.parametrize(("clip_norm", "factor"), [(0.0, 1.0), (5.0, 0.5), (15.0, 1.0)])
def test_gradients_scaled_by_hand(clip_norm: float, factor: float) -> None:
    config = sample_trial(MODELS[0], clip_norm=clip_norm)
    training = Training(config, sample_data())
    bias = training.model.classify.bias
    bias.grad = torch.tensor([0.0, -6.0, 8.0])  # the norm is 10
    training.clip_gradients()
    assert bias.grad.tolist() == pytest.approx([0.0, -6 * factor, 8 * factor], rel=1e-5)


@pytest.mark.parametrize(
    ("epochs", "final_rate", "rates"),
    [(4, 0.1, [0.01, 0.007, 0.004, 0.001]), (3, 1.0, [0.01] * 3), (1, 0.1, [0.01])],
)
def test_rates_by_hand(epochs: int, final_rate: float, rates: list[float]) -> None:
    """Linear in the epoch; a single epoch has the full rate."""
    config = sample_trial(MODELS[0], learning_rate=0.01, final_rate=final_rate, max_epochs=epochs)
    training, used = Training(config, sample_data()), []
    for _ in training.epochs():
        used.append(training.optimizer.param_groups[0]["lr"])
    assert used == pytest.approx(rates, rel=1e-12)
    assert final_rate < 1 or used == rates  # exactly


def test_one_adagrad_step_by_hand() -> None:
    """w - lr · g / sqrt(accumulator + g²), with the accumulator at 0.1."""
    config = sample_trial(MODELS[0], optimizer="adagrad", learning_rate=0.5)
    training = Training(config, sample_data())
    parameter = training.model.classify.bias
    parameter.grad = torch.tensor([0.3, 0.0, -2.0])
    training.optimizer.step()
    expected = [-0.5 * g / (0.1 + g * g) ** 0.5 for g in (0.3, 0.0, -2.0)]
    assert parameter.tolist() == pytest.approx(expected, rel=1e-5)
