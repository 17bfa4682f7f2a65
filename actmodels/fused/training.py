"""Train the trials of a fusion together, each with the result of training it alone.

Between epochs each trial is a `Training`: it can continue in another fusion or alone. Finished
trials leave, and each epoch orders the others by their steps, slowest first.
"""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from actmodels.configs import InputConfig
from actmodels.data.pairs import FILLER, PairTensors
from actmodels.data.trial_data import TrialData, input_vectors
from actmodels.evaluation import Evaluation, evaluate
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
from actmodels.modules.dropout import update_keys
from actmodels.seeding import seed_of
from actmodels.training import Training, pair_metrics
from actmodels.trial_config import TrialConfig

CHECK_EVERY = 64  # updates between checks whether every trial has diverged


def slowness(trial: Training) -> float:
    """Return the mean steps in the last epoch."""
    return (trial.history[-1].train_mean_steps or 0.0) if trial.history else 0.0


def fuse(members: Sequence[Training]) -> tuple[PairModel, FusedOptimizer]:
    """Stack the models of trials, and their optimizers' states."""
    fusion = stack([member.model for member in members])
    configs, states = zip(*((m.config, m.optimizer.state_dict()) for m in members), strict=True)
    return fusion, FusedOptimizer(fusion, configs, states)


class FusedTraining:
    """The training of trials of one shape, `members` in the order of `configs`.

    Raises:
        ValueError: the trials differ in `fusion_shape`.
    """

    def __init__(
        self, configs: Sequence[TrialConfig], data: TrialData, device: str = "cpu"
    ) -> None:
        if len({fusion_shape(config) for config in configs}) != 1:
            raise ValueError("trials of one fusion must have the same shape (fusion_shape)")
        self.data, self.device = data, torch.device(device)
        inputs = {(config.input, config.seed) for config in configs}
        vectors = {key: input_vectors(data.words, *key).to(self.device) for key in inputs}
        self.members = [Training(c, data, device, vectors[c.input, c.seed]) for c in configs]

    @property
    def running(self) -> list[Training]:
        """The unfinished trials, slowest first."""
        unfinished = [member for member in self.members if not member.finished]
        return sorted(unfinished, key=slowness, reverse=True)

    @property
    def finished(self) -> bool:
        return not self.running

    def run_epoch(self) -> list[Training]:
        """Train and evaluate the running trials for one epoch; return them with new records."""
        start = time.perf_counter()
        members = self.running
        for member in members:
            member.set_rate()
        fusion, optimizer = fuse(members)
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
            train, seen = means.metrics(trial), means.examples(trial)
            member.add(train, dev.metrics, weight, seconds, seen)
        return members

    def train_epoch(
        self, fusion: PairModel, optimizer: FusedOptimizer, members: Sequence[Training]
    ) -> tuple[EpochMetrics, Tensor]:
        """Train one epoch; return its metrics, and which trials [trials] had only finite losses."""
        draws = [member.epoch_generator for member in members]
        batches = [member.batches(one) for member, one in zip(members, draws, strict=True)]
        fused = fused_batches(batches, [one.initial_seed() for one in draws])
        seeds = torch.tensor([m.config.seed for m in members], device=self.device)
        epochs = torch.tensor([m.next_epoch for m in members], device=self.device)
        alive = torch.ones(len(members), dtype=torch.bool, device=self.device)
        means = EpochMetrics(pair_metrics)
        torch.manual_seed(seed_of("torch", *(one.initial_seed() for one in draws)))
        fusion.train()
        fusion.halting.start_epoch(epochs)
        keys = update_keys(seeds, epochs, self.device)
        for update, batch in enumerate(fused):
            fusion.dropout_stream.restart(next(keys))
            prediction = fusion(batch)
            objective = fusion.objective(prediction, batch.labels)
            alive &= torch.isfinite(objective)
            optimizer.zero_grad()
            objective.sum().backward()
            optimizer.step(alive)
            fusion.halting.on_update_end(prediction, batch.labels)
            with torch.no_grad():
                labels = torch.where(alive[:, None], batch.labels, FILLER)
                means.add((*prediction[:3], labels))
            if update % CHECK_EVERY == 0 and not bool(alive.any()):
                break
        return means, alive


def evaluate_fusion(
    fusion: PairModel, pairs: PairTensors, config: InputConfig, trials: int
) -> list[Evaluation]:
    """Evaluate each trial of a fusion on a split; see actmodels.evaluation.evaluate."""
    fused = evaluate(fusion, pairs, config, transform=lambda batch: shared_batch(batch, trials))
    return [fused.trial(number) for number in range(trials)]
