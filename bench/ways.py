"""Trials ready to be timed: the plain way, and as the product trains them, alone and in a pack.

The plain way is what the product is compared with: shuffled batches, padded to the longest
sentence; all examples take steps until the last has halted; dropout and optimiser as torch has
them; weight gradients formed at each step. The model's own code is the same, so that nothing else
differs.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.config import TrialConfig
from actmodels.data.pairs import PairTensors, collate
from actmodels.data.trial_data import TrialData
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import Dropout
from actmodels.packed.optimizer import PackOptimizer
from actmodels.packed.stack import stack
from actmodels.packed.training import PackTraining
from actmodels.training import Training
from bench.work import MEAN, SD, set_steps, states_of, trial

REACH = 3.1  # the slowest trials of a pack take so many steps more than the mean, the fastest less


class PlainDropout(Dropout):
    """Masks from torch's generator."""

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Draw zeros and 1/(1 - rate) of a shape."""
        dropped: Tensor = self(like.new_ones(() if self.idle else shape))
        return dropped

    def forward(self, inputs: Tensor) -> Tensor:
        """Drop units of any shape."""
        assert isinstance(self.rate, float)
        return functional.dropout(inputs, self.rate, self.training)


class PlainTraining:
    """A trial trained the plain way, by Adagrad; `run` trains on given batches.

    Args:
        model: as the product builds it; changed in place.
    """

    def __init__(self, config: TrialConfig, model: PairModel, data: TrialData) -> None:
        for module in model.modules():
            if isinstance(module, Dropout):
                module.__class__ = PlainDropout
        self.config, self.model, self.data = config, model, data
        self.optimizer = torch.optim.Adagrad(
            model.parameters(),
            lr=config.training.learning_rate,
            initial_accumulator_value=config.training.adagrad_accumulator,
        )

    def run(self, batches: Sequence[Tensor]) -> None:
        """Train on the rows of each batch."""
        self.model.train()
        for index in batches:
            batch = collate(self.data.train, index, null_token=False)
            prediction = self.model(batch, loop="until_halted")
            loss = self.model.objective(prediction, batch.labels)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.training.clip_norm)
            self.optimizer.step()
            loss.item()


def fixed_batches(model: PairModel, batches: Sequence[Tensor]) -> None:
    """Let an epoch of training be these batches: no run sorts the whole split anew."""

    def given(
        pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
    ) -> Iterator[Tensor]:
        return iter(batches)

    model.__dict__["batches"] = given


def single(width: int, data: TrialData, batches: Sequence[Tensor], device: str = "cpu") -> Training:
    """The product's training of a trial, an epoch of which is `batches`, its halting set."""
    training = Training(trial(width, len(batches[0])), data, device)
    set_steps(training.model, states_of(training.model, data.train, batches, device), MEAN, SD)
    fixed_batches(training.model, batches)
    return training


def plain_twin(training: Training) -> PlainTraining:
    """The same trial from the same parameters, to be trained the plain way."""
    twin = Training(training.config, training.data)
    twin.model.load_state_dict(training.model.state_dict())
    return PlainTraining(training.config, twin.model, training.data)


def mean_steps(trials: int) -> list[float]:
    """The mean steps of each trial of a pack, slowest first; their mean is that of a single one."""
    return [MEAN + REACH * (1 - (2 * number + 1) / trials) for number in range(trials)]


class Pack:
    """A pack of trials that trains an epoch of `batches` whenever it is run.

    One seed, as in a grid. The trials start from the same parameters but for their halting
    weights: each takes its own steps for an example, and their means are as unlike as in a grid.
    """

    def __init__(
        self,
        width: int,
        data: TrialData,
        batches: Sequence[Tensor],
        trials: int,
        device: str = "cpu",
    ) -> None:
        self.training = PackTraining([trial(width, len(batches[0]))] * trials, data, device)
        self.members = self.training.members
        models = [member.model for member in self.members]
        states = states_of(models[0], data.train, batches, device)
        generator = torch.Generator().manual_seed(3)
        for model, mean in zip(models, mean_steps(trials), strict=True):
            direction = torch.randn(width, generator=generator).to(device)
            set_steps(model, states, mean, SD / MEAN * mean, direction)
        self.model = stack(models)
        fixed_batches(models[0], batches)  # of one seed, so those of the first serve all
        configs = [member.config for member in self.members]
        optimizers = [member.optimizer.state_dict() for member in self.members]
        self.optimizer = PackOptimizer(self.model, configs, optimizers)
        self.examples = trials * sum(map(len, batches))

    def run(self) -> float:
        """Train on all batches; returns trials · examples."""
        self.training.train_epoch(self.model, self.optimizer, self.members)
        return self.examples
