"""The seven checks of every sentence-pair model, all but the last in double precision."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from actmodels.data.pairs import Batch, collate
from actmodels.data.trial_data import TrialData, input_vectors, trained_words
from actmodels.fused import can_fuse, shared_batch, stack
from actmodels.model_training import AnyTraining
from actmodels.models.pair_model import PairModel, build
from actmodels.modules.dropout import update_keys
from actmodels.training import Training
from actmodels.trial_config import TrialConfig
from tests.samples import sample_batch, sample_data, sample_pairs, sample_words


def make(config: TrialConfig) -> PairModel:
    words = sample_words()
    vectors = input_vectors(words, config.input, config.seed)
    return build(config, vectors, 3, trained_words(words, config.input)).double().eval()


def assert_saved_and_loaded(made: Callable[[], Any], answer: Callable[[Any], Tensor]) -> None:
    """A state_dict loaded into a model with other parameters gives the same output."""
    model, other, stored = made(), made(), io.BytesIO()
    torch.save(model.state_dict(), stored)
    stored.seek(0)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(-0.5)
    assert not torch.equal(answer(other), answer(model))
    other.load_state_dict(torch.load(stored, weights_only=True))
    assert torch.equal(answer(other), answer(model))


def without_gradient(model: nn.Module, objective: Tensor) -> list[str]:
    """Names of trained parameters without a gradient from an objective."""
    objective.backward()
    return [
        name
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
        and (parameter.grad is None or not bool(parameter.grad.abs().sum() > 0))
    ]


def check_save_and_load(config: TrialConfig) -> None:
    batch = sample_batch()
    assert_saved_and_loaded(lambda: make(config), lambda model: model(batch).logits)


def check_every_parameter_gets_a_gradient(config: TrialConfig) -> None:
    model, batch = make(config).train(), sample_batch(24)
    assert without_gradient(model, model.objective(model(batch), batch.labels)) == []


def check_batch_equals_singles(config: TrialConfig) -> None:
    """A batch of n equals n batches of 1: examples do not affect each other."""
    model, pairs = make(config), sample_pairs(9)
    together = model(collate(pairs, torch.arange(9), null_token=False))
    for row in range(9):
        alone = model(collate(pairs, torch.tensor([row]), null_token=False))
        torch.testing.assert_close(together.logits[row], alone.logits[0])
        if together.steps is not None:
            assert together.steps[row] == alone.steps[0]
        if together.ponder_cost is not None:
            torch.testing.assert_close(together.ponder_cost[row], alone.ponder_cost[0])


def check_padding_changes_nothing(config: TrialConfig) -> None:
    model, batch = make(config), sample_batch()
    premise = (pad(batch.premise, (0, 5)), pad(batch.premise_mask, (0, 5)))
    hypothesis = (pad(batch.hypothesis, (0, 3)), pad(batch.hypothesis_mask, (0, 3)))
    trees = (pad(batch.premise_tree, (0, 5)), pad(batch.hypothesis_tree, (0, 3)))
    longer = Batch(*premise, *hypothesis, batch.labels, batch.rows, *trees)
    torch.testing.assert_close(model(longer).logits, model(batch).logits)


def check_fused_equals_single(config: TrialConfig) -> None:
    """Fused models equal the single models, in training too."""
    if not can_fuse(config.model):
        return
    models, batch = [make(replace(config, seed=seed)) for seed in (1, 2, 3)], sample_batch()
    fusion, keys = stack(models), next(update_keys(torch.tensor([1, 2, 3]), 1, "cpu"))
    for training in (False, True):
        fusion.train(training).dropout_stream.restart(keys)
        fused = fusion(shared_batch(batch, len(models)))
        for row, model in enumerate(models):
            model.train(training).dropout_stream.restart(keys[row])
            alone = model(batch)
            torch.testing.assert_close(fused.logits[row], alone.logits)
            if alone.steps is not None:
                torch.testing.assert_close(fused.steps[row], alone.steps)


def assert_resumed(start: Callable[[], AnyTraining], epochs: int) -> None:
    """A trial that resumes in another process after some epochs has the same bits."""
    whole, first, stored = start(), start(), io.BytesIO()
    history = [record.result() for record in whole.epochs()]
    assert not whole.diverged
    for _ in range(epochs):
        first.run_epoch()
    torch.save(first.state_dict(), stored)
    stored.seek(0)
    torch.manual_seed(99)  # a new process has other random numbers
    second = start()
    second.load_state_dict(torch.load(stored, weights_only=True))
    torch.manual_seed(98)
    rest = range(epochs + 1, len(history) + 1)
    assert [record.epoch for record in second.epochs()] == list(rest)
    assert [record.result() for record in second.history] == history
    assert same(second.model.state_dict(), whole.model.state_dict())
    assert same(second.best_parameters, whole.best_parameters)


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in {**one, **other})


def check_resumed_equals_uninterrupted(config: TrialConfig) -> None:
    assert_resumed(lambda: Training(replace(config, max_epochs=3), sample_data()), 2)


def check_any_number_of_classes(config: TrialConfig) -> None:
    """The data have their own classes: the model has an output for each, and trains."""
    for classes in ("ab", "abcde"):
        train, dev = sample_pairs(48, 1, classes=classes), sample_pairs(24, 2, classes=classes)
        training = Training(replace(config, max_epochs=1), TrialData(train, dev, sample_words()))
        training.run_epoch()
        batch = collate(dev, torch.arange(3), null_token=False)
        assert training.model(batch).logits.shape[-1] == len(classes)
        assert not training.diverged


CHECKS = (
    check_any_number_of_classes,
    check_save_and_load,
    check_every_parameter_gets_a_gradient,
    check_batch_equals_singles,
    check_padding_changes_nothing,
    check_fused_equals_single,
    check_resumed_equals_uninterrupted,
)
