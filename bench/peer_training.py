"""Training of the plain models of `bench.peers`, on the batches of the project's trials."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.data.pairs import Batch
from actmodels.models.pair_model import word_tables
from actmodels.training import Training
from bench.peers import PlainActRnn, PlainDecomposableAttention
from studies.sequences.training import SequenceTraining


def pair_epoch(
    training: Training, model: nn.Module, batches: Callable[[], Iterable[Batch]]
) -> Callable[[], None]:
    """Return a function that trains a plain model on batches of sentence pairs."""
    update = updater(model, training)

    def run() -> None:
        for ids, mask, other, other_mask, labels, *_ in batches():
            output = model(ids, mask, other, other_mask)
            logits, cost = output if isinstance(output, tuple) else (output, None)
            loss = functional.cross_entropy(logits, labels)
            update(loss if cost is None else loss + training.model.ponder_weight * cost.mean())

    return run


def decomposable(training: Training) -> nn.Module:
    """Return the plain model of a trial of Decomposable Attention."""
    (table,), network = word_tables(training.model), training.config.network
    return PlainDecomposableAttention(table.vectors, network.width, network.dropout)


def rnn_epoch(training: SequenceTraining, *, own_start: bool) -> Callable[[], None]:
    """Return a function that trains the plain ACT RNN for one epoch, on the same sequences.

    own_start: from torch's initialization, with a bias of the halting unit for as many steps.
    """
    model = PlainActRnn(training)
    if own_start:
        (batch,) = [*training.batches(training.epoch_generator)][:1]
        inputs = batch.inputs[:, 0]
        model(inputs)
        match_steps(model, inputs, float(model.steps.mean()))
    update = updater(model, training)

    def run() -> None:
        for batch in training.batches(training.epoch_generator):
            odds, cost = model(batch.inputs[:, 0])
            targets = batch.targets[:, 0, 0].float()
            loss = functional.binary_cross_entropy_with_logits(odds, targets)
            update(loss + training.ponder_weight * cost.mean())

    return run


@torch.no_grad()
def match_steps(model: PlainActRnn, inputs: Tensor, steps: float) -> None:
    """Draw the parameters by torch's defaults, and set the halting bias for these mean steps."""
    torch.manual_seed(1)
    for layer in (model.cell, model.halt, model.output):
        layer.reset_parameters()  # type: ignore[operator]
    low, high = -8.0, 8.0
    for _ in range(20):
        model.halt.bias.fill_((low + high) / 2)
        model(inputs)
        low, high = (
            (float(model.halt.bias), high)
            if model.steps.mean() > steps
            else (low, float(model.halt.bias))
        )


def updater(model: nn.Module, training: Training | SequenceTraining) -> Callable[[Tensor], None]:
    """Return a function that takes a step of the trial's optimizer from a loss."""
    settings: Any = training.config.training
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if isinstance(training.optimizer, torch.optim.Adagrad):
        start = settings.adagrad_accumulator
        optimizer: torch.optim.Optimizer = torch.optim.Adagrad(
            parameters, settings.learning_rate, initial_accumulator_value=start
        )
    else:
        optimizer = torch.optim.Adam(parameters, settings.learning_rate)

    def update(loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, settings.clip_norm)
        optimizer.step()
        loss.item()

    return update
