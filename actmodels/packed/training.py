"""Training the trials of a pack together, each as if it were alone.

A trial's model, optimiser and checkpoint are those of `actmodels.training.Training`; between
epochs a pack is nothing but its trials. So a trial can go on in another pack or alone, trials
that have ended give their place back, and the slowest comes first whenever an epoch begins.
"""

import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from actmodels.config import TrialConfig
from actmodels.data.batching import collate
from actmodels.data.embeddings import input_rows, trained_rows
from actmodels.data.pairs import FILLER, PairTensors
from actmodels.data.trial_data import TrialData
from actmodels.epoch_means import EpochMeans, epoch_record
from actmodels.evaluation import Evaluation
from actmodels.models.build import build, parameter_count
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import update_key
from actmodels.packed.batches import pack_batches, shared_batch
from actmodels.packed.graphs import GraphedUpdates
from actmodels.packed.optimizer import PackOptimizer
from actmodels.packed.stack import load_member, member_state, pack_shape, stack
from actmodels.packed.updates import EagerUpdates, Updates
from actmodels.progress import Progress
from actmodels.settings import InputConfig
from actmodels.training import build_optimizer

CHECK_EVERY = 64  # updates between looks at whether every trial has diverged


class Member(Progress[TrialConfig]):
    """One trial of a pack between epochs; its attributes are those of Training."""

    def __init__(self, config: TrialConfig, model: PairModel) -> None:
        super().__init__(config)
        self.model = model
        self.optimizer_state: dict[str, Any] = build_optimizer(model, config.training).state_dict()

    @property
    def parameters(self) -> int:
        """Trained parameters."""
        return parameter_count(self.model)

    @property
    def slowness(self) -> float:
        """Mean steps in the last epoch."""
        return (self.history[-1].train_mean_steps or 0.0) if self.history else 0.0

    def state_dict(self) -> dict[str, Any]:
        """The state_dict of Training."""
        model = {name: value.clone() for name, value in self.model.state_dict().items()}
        return {"model": model, "optimizer": self.optimizer_state} | super().state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a training that was saved in a pack or alone."""
        self.model.load_state_dict(state["model"])
        self.optimizer_state = state["optimizer"]
        super().load_state_dict(state)


class PackTraining:
    """Trials of one shape in progress.

    Args:
        configs: the trials; any number, in any order.
        data: their train and dev splits and word vectors.
        device: where the models live, such as "cpu" or "cuda".
        graphs: update by CUDA graphs (actmodels.packed.graphs).

    Attributes:
        members: all trials, in the order of `configs`, also those that have ended.

    Raises:
        ValueError: the trials differ in more than numbers (`pack_shape`).
    """

    def __init__(
        self,
        configs: Sequence[TrialConfig],
        data: TrialData,
        device: str = "cpu",
        *,
        graphs: bool = False,
    ) -> None:
        if len({pack_shape(config) for config in configs}) != 1:
            raise ValueError("trials of one pack must have the same shape (pack_shape)")
        self.data, self.device, self.graphs = data, torch.device(device), graphs
        tables: dict[tuple[InputConfig, int], Tensor] = {}
        self.members: list[Member] = []
        for config in configs:
            name = (config.input, config.seed)
            if name not in tables:
                tables[name] = input_rows(data.words, *name).to(self.device)
            model = build(config, tables[name], trained_rows(data.words, config.input))
            self.members.append(Member(config, model.to(self.device)))

    @property
    def running(self) -> list[Member]:
        """The trials that have not ended, slowest first."""
        left = [member for member in self.members if not member.finished]
        return sorted(left, key=lambda member: -member.slowness)

    @property
    def finished(self) -> bool:
        """All trials have ended."""
        return not self.running

    def run_epoch(self) -> list[Member]:
        """Train and evaluate the running trials once; returns them, their records added."""
        start = time.perf_counter()
        members = self.running
        pack = stack([member.model for member in members])
        optimizer = PackOptimizer(
            pack,
            [member.config for member in members],
            [member.optimizer_state for member in members],
        )
        means, alive = self.train_epoch(pack, optimizer, members)
        for trial, survived in enumerate(alive.tolist()):
            if not survived:
                members[trial].diverged = True
                load_member(pack, trial, members[trial].model.state_dict())
        seconds = (time.perf_counter() - start) / len(members)
        weights = pack.ponder_weight
        evaluations = evaluate_pack(pack, self.data.dev, members[0].config.input, len(members))
        for trial, (member, dev) in enumerate(zip(members, evaluations, strict=True)):
            weight = weights[trial] if isinstance(weights, Tensor) and weights.dim() else weights
            record = epoch_record(
                member.next_epoch,
                means.summary(trial),
                dev,
                ponder_weight=None if weight is None else float(weight),
                seconds=seconds,
                examples=means.examples(trial),
            )
            if not member.diverged:
                groups = member.optimizer_state["param_groups"]
                member.model.load_state_dict(member_state(pack, trial))
                member.optimizer_state = optimizer.state_dict(trial, groups)
            if member.add(record):
                member.best_parameters = member_state(pack, trial)
        return members

    def train_epoch(
        self, pack: PairModel, optimizer: PackOptimizer, members: Sequence[Member]
    ) -> tuple[EpochMeans, Tensor]:
        """One pass over the training pairs.

        Returns:
            the running figures, and which trials [trials] never met a loss that is not finite;
            one that did stands still from there on.
        """
        first = members[0].config
        draws = [member.epoch_generator for member in members]
        seeds = [one.initial_seed() for one in draws]
        orders = [pack.batches(self.data.train, first.training.batch_size, one) for one in draws]
        means = EpochMeans()
        updates: Updates = EagerUpdates(pack, optimizer, len(members))
        if self.graphs:
            rows = first.training.batch_size
            updates = GraphedUpdates(pack, optimizer, len(members), rows)
        pack.train()
        own_seeds = torch.tensor([m.config.seed for m in members], device=self.device)
        epochs = torch.tensor([m.next_epoch for m in members], device=self.device)
        pack.start_epoch(epochs)
        batches = pack_batches(
            self.data.train,
            orders,
            seeds,
            null_token=first.input.null_token,
            device=self.device,
        )
        for update, batch in enumerate(batches):
            prediction = updates.run(batch, update_key(own_seeds, epochs, update))
            means.add(prediction, torch.where(updates.alive[:, None], batch.labels, FILLER))
            if update % CHECK_EVERY == 0 and not bool(updates.alive.any()):
                break
        return means, updates.alive


@torch.no_grad()
def evaluate_pack(
    pack: PairModel, pairs: PairTensors, config: InputConfig, trials: int, batch_size: int = 256
) -> list[Evaluation]:
    """Score the pairs of a split by each trial of a pack; see actmodels.evaluation.evaluate."""
    pack.eval()
    device = next(pack.parameters()).device
    predictions, scored = [], []
    for index in pack.batches(pairs, batch_size):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        predictions.append(pack(shared_batch(batch, trials)))
        scored.append(index)
    rows, back = torch.sort(torch.cat(scored))

    def gather(name: str) -> Tensor | None:
        parts = [getattr(prediction, name) for prediction in predictions]
        return None if parts[0] is None else torch.cat(parts, dim=1).cpu()[:, back]

    logits, steps, ponder = gather("logits"), gather("steps"), gather("ponder_cost")
    assert logits is not None
    return [
        Evaluation(
            rows,
            logits[trial],
            pairs.labels[rows],
            None if steps is None else steps[trial],
            None if ponder is None else ponder[trial],
        )
        for trial in range(trials)
    ]
