"""Trials ready to be timed: the product's own training, and the plain one beside it."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from actmodels.bench.plain import PlainTraining
from actmodels.bench.steps import MEAN, SD, set_steps, unrolled
from actmodels.config import TrialConfig
from actmodels.data.batching import Batch, collate
from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import TrialData
from actmodels.models.pair_model import PairModel
from actmodels.training import Training

CALIBRATION = 256  # examples that the halting is set on


def fixed_batches(model: PairModel, batches: Sequence[Tensor]) -> None:
    """Let an epoch of training be these batches: no run sorts the whole split anew."""

    def given(
        pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
    ) -> Iterator[Tensor]:
        return iter(batches)

    model.__dict__["batches"] = given


def calibration_batches(
    config: TrialConfig, data: TrialData, batches: Sequence[Tensor]
) -> list[Batch]:
    """Batches enough to set the halting on, at most all there are."""
    needed = -(-CALIBRATION // len(batches[0]))
    chosen = batches[:needed]
    return [collate(data.train, index, null_token=config.input.null_token) for index in chosen]


def prepared(config: TrialConfig, data: TrialData, batches: Sequence[Tensor]) -> Training:
    """The product's training of a trial, an epoch of which is `batches`, its halting set."""
    training = Training(config, data)
    training.model.train()
    states = unrolled(training.model, calibration_batches(config, data, batches))
    set_steps(training.model, states, MEAN, SD)
    fixed_batches(training.model, batches)
    return training


def plain_twin(training: Training) -> PlainTraining:
    """The same trial from the same parameters, to be trained the plain way."""
    twin = Training(training.config, training.data)
    twin.model.load_state_dict(training.model.state_dict())
    return PlainTraining(training.config, twin.model, training.data)
