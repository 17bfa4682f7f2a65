"""Training the trials of a fusion together, each as if it were alone.

Between epochs a fusion is its trials, each a `Training`: a trial can continue in another fusion or
alone, trials that have ended leave, and the slowest comes first in each epoch.
"""

import time
from collections.abc import Sequence
from operator import itemgetter

import torch
from torch import Tensor

from actmodels.configs import InputConfig
from actmodels.data.pairs import FILLER, PairTensors
from actmodels.data.trial_data import TrialData, input_rows
from actmodels.evaluation import Evaluation, predicted
from actmodels.fused.optimizer import FusedOptimizer
from actmodels.fused.stack import (
    fused_batches,
    fusion_shape,
    load_member,
    member_state,
    shared_batch,
    stack,
)
from actmodels.metrics import EpochMetrics
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import update_key
from actmodels.training import Training, pair_marks
from actmodels.trial_config import TrialConfig

CHECK_EVERY = 64  # updates between looks at whether every trial has diverged


def slowness(trial: Training) -> float:
    """Mean steps in the last epoch."""
    return (trial.history[-1].train_mean_steps or 0.0) if trial.history else 0.0


class FusedTraining:
    """Trials of one shape (`fusion_shape`, else ValueError), in the order of `configs`."""

    def __init__(
        self, configs: Sequence[TrialConfig], data: TrialData, device: str = "cpu"
    ) -> None:
        if len({fusion_shape(config) for config in configs}) != 1:
            raise ValueError("trials of one fusion must have the same shape (fusion_shape)")
        self.data, self.device = data, torch.device(device)
        tables: dict[tuple[InputConfig, int], Tensor] = {}
        self.members: list[Training] = []
        for config in configs:
            name = (config.input, config.seed)
            if name not in tables:
                tables[name] = input_rows(data.words, *name).to(self.device)
            self.members.append(Training(config, data, device, tables[name]))

    @property
    def running(self) -> list[Training]:
        """The trials that have not ended, slowest first."""
        left = [member for member in self.members if not member.finished]
        return sorted(left, key=lambda member: -slowness(member))

    @property
    def finished(self) -> bool:
        return not self.running

    def run_epoch(self) -> list[Training]:
        """Train and evaluate the running trials once; returns them, their records added."""
        start = time.perf_counter()
        members = self.running
        for member in members:
            member.set_rate()
        fusion = stack([member.model for member in members])
        configs, states = zip(*((m.config, m.optimizer.state_dict()) for m in members), strict=True)
        optimizer = FusedOptimizer(fusion, configs, states)
        means, alive = self.train_epoch(fusion, optimizer, members)
        for trial, (member, survived) in enumerate(zip(members, alive.tolist(), strict=True)):
            member.diverged = not survived
            if member.diverged:
                load_member(fusion, trial, member.model.state_dict())
            else:
                groups = member.optimizer.state_dict()["param_groups"]
                member.model.load_state_dict(member_state(fusion, trial))
                member.optimizer.load_state_dict(optimizer.state_dict(trial, groups))
        seconds, weights = (time.perf_counter() - start) / len(members), fusion.ponder_weight
        evaluations = evaluate_fusion(fusion, self.data.dev, members[0].config.input, len(members))
        for trial, (member, dev) in enumerate(zip(members, evaluations, strict=True)):
            weight = weights[trial] if isinstance(weights, Tensor) and weights.dim() else weights
            figures, seen = means.metrics(trial), means.examples(trial)
            member.add(figures, dev.metrics, weight, seconds, seen)
        return members

    def train_epoch(
        self, fusion: PairModel, optimizer: FusedOptimizer, members: Sequence[Training]
    ) -> tuple[EpochMetrics, Tensor]:
        """Train one epoch; return figures, and trials [trials] without a non-finite loss."""
        draws = [member.epoch_generator for member in members]
        own = [member.batches(one) for member, one in zip(members, draws, strict=True)]
        seeds = torch.tensor([m.config.seed for m in members], device=self.device)
        epochs = torch.tensor([m.next_epoch for m in members], device=self.device)
        alive = torch.ones(len(members), dtype=torch.bool, device=self.device)
        means = EpochMetrics()
        fusion.train()
        fusion.halting.start_epoch(epochs)
        for update, batch in enumerate(fused_batches(own, [one.initial_seed() for one in draws])):
            fusion.dropout_stream.restart(update_key(seeds, epochs, update))
            prediction = fusion(batch)
            objective = fusion.objective(prediction, batch.labels)
            alive &= torch.isfinite(objective)
            optimizer.zero_grad()
            objective.sum().backward()
            optimizer.step(alive)
            fusion.halting.on_update_end(prediction, batch.labels)
            with torch.no_grad():
                means.add(pair_marks(prediction, torch.where(alive[:, None], batch.labels, FILLER)))
            if update % CHECK_EVERY == 0 and not bool(alive.any()):
                break
        return means, alive


def evaluate_fusion(
    fusion: PairModel, pairs: PairTensors, config: InputConfig, trials: int, batch_size: int = 256
) -> list[Evaluation]:
    """Score the pairs of a split by each trial of a fusion; see actmodels.evaluation.evaluate."""
    rows, found = predicted(fusion, pairs, config, batch_size, lambda b: shared_batch(b, trials))
    alone = (found.each(itemgetter(trial)) for trial in range(trials))
    return [Evaluation(rows, p.logits, pairs.labels[rows], p.steps, p.ponder_cost) for p in alone]
