"""Packs ready to be timed: trials that take about the same steps, or very different ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from actmodels.bench.steps import MEAN, SD, set_steps, unrolled
from actmodels.bench.trials import calibration_batches, fixed_batches
from actmodels.bench.workload import Sizes, trial
from actmodels.data.trial_data import TrialData
from actmodels.packed.optimizer import PackOptimizer
from actmodels.packed.stack import stack
from actmodels.packed.training import PackTraining
from actmodels.training import Training

Kind = Literal["like", "unlike"]
SLOWEST, FASTEST = 10.0, 2.0  # mean steps at the ends of a pack of unlike trials; their mean is 6
SPREAD = SD / MEAN
PONDER_WEIGHTS, EPSILONS = (0.001, 0.0005, 0.0001, 0.00005), (0.01, 0.2)  # paper table 2


def mean_steps(kind: Kind, trials: int) -> list[float]:
    """The mean steps of each trial, slowest first."""
    if kind == "like":
        return [MEAN] * trials
    return [SLOWEST - (SLOWEST - FASTEST) * (n + 0.5) / trials for n in range(trials)]


def pack_training(
    sizes: Sizes,
    data: TrialData,
    batches: Sequence[Tensor],
    kind: Kind,
    trials: int,
    device: str = "cpu",
) -> PackTraining:
    """A pack of trials whose epoch is `batches`: one seed, as in a grid, and own halting weights.

    The trials start from the same parameters but for the direction of the halting weights, so
    each takes its own steps for an example even where their means are the same.
    """
    settings: list[dict[str, Any]] = [{} for _ in range(trials)]
    if kind == "unlike":
        settings = [
            {"ponder_weight": PONDER_WEIGHTS[n % 4], "epsilon": EPSILONS[n // 4 % 2]}
            for n in range(trials)
        ]
    batch_size = len(batches[0])
    configs = [trial(sizes, batch_size, **own) for own in settings]
    training = PackTraining(configs, data)
    first = training.members[0].model
    first.train()
    states = unrolled(first, calibration_batches(configs[0], data, batches))
    generator = torch.Generator().manual_seed(3)
    for member, mean in zip(training.members, mean_steps(kind, trials), strict=True):
        direction = torch.randn(sizes.state_size, generator=generator)
        set_steps(member.model, states, mean, SPREAD * mean, direction)
        member.model.to(device)
    training.device = torch.device(device)
    return training


@dataclass
class Pack:
    """A stacked pack that trains an epoch whenever it is run."""

    training: PackTraining
    batches: Sequence[Tensor]

    def __post_init__(self) -> None:
        self.members: list[Training] = self.training.members
        self.model = stack([member.model for member in self.members])
        fixed_batches(self.model, self.batches)
        states = [member.optimizer.state_dict() for member in self.members]
        configs = [member.config for member in self.members]
        self.optimizer = PackOptimizer(self.model, configs, states)

    def run(self) -> float:
        """Train on all batches; returns trials · examples."""
        self.training.train_epoch(self.model, self.optimizer, self.members)
        return len(self.members) * sum(map(len, self.batches))


def alone(pack: PackTraining, batches: Sequence[Tensor]) -> list[Training]:
    """The trials of a pack by themselves, from the same parameters."""
    trainings = []
    for member in pack.members:
        training = Training(member.config, pack.data)
        training.model.load_state_dict(member.model.state_dict())
        training.model.to(pack.device)
        training.device = pack.device
        fixed_batches(training.model, batches)
        trainings.append(training)
    return trainings
