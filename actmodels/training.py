"""Training one trial, epoch by epoch, with a state that can be saved and taken up again.

Every epoch seeds its own random numbers from (seed, epoch): a run that is interrupted after any
epoch and resumed gives the same bits as one that was not.
"""

import copy
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from actmodels.config import TrialConfig
from actmodels.data.batching import collate
from actmodels.data.embeddings import input_rows, trained_rows
from actmodels.data.trial_data import TrialData
from actmodels.evaluation import evaluate, mean_and_sd
from actmodels.models.build import build, parameter_count
from actmodels.models.pair_model import PairModel
from actmodels.models.prediction import Prediction
from actmodels.modules.dropout import update_key
from actmodels.records import EpochRecord, best_epoch
from actmodels.settings import TrainConfig


def build_optimizer(model: PairModel, config: TrainConfig) -> torch.optim.Optimizer:
    """Adam (Kingma & Ba 2014) or Adagrad with its start accumulator named (torch's own is 0)."""
    if config.optimizer == "adam":
        return torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    return torch.optim.Adagrad(
        model.parameters(),
        lr=config.learning_rate,
        initial_accumulator_value=config.adagrad_accumulator,
    )


class RunningMeans:
    """Sums over an epoch of training, kept on the device until its end."""

    def __init__(self) -> None:
        self.loss: list[Tensor] = []
        self.correct: list[Tensor] = []
        self.steps: list[Tensor] = []
        self.ponder: list[Tensor] = []
        self.examples = 0

    @torch.no_grad()
    def add(self, prediction: Prediction, labels: Tensor) -> None:
        """Take in one batch."""
        self.loss.append(cross_entropy(prediction.logits, labels, reduction="sum"))
        self.correct.append((prediction.logits.argmax(dim=1) == labels).sum())
        self.examples += len(labels)
        if prediction.steps is not None:
            self.steps.append(prediction.steps.detach())
        if prediction.ponder_cost is not None:
            self.ponder.append(prediction.ponder_cost.detach())

    def summary(self) -> dict[str, float | None]:
        """The train fields of the epoch's record; zeros if its first batch diverged."""

        def total(values: list[Tensor]) -> float:
            return torch.stack(values).double().sum().item() if values else 0.0

        steps = torch.cat(self.steps) if self.steps else None
        mean_steps, sd_steps = mean_and_sd(steps)
        mean_ponder, _ = mean_and_sd(torch.cat(self.ponder) if self.ponder else None)
        count = max(self.examples, 1)
        return {
            "train_loss": total(self.loss) / count,
            "train_accuracy": total(self.correct) / count,
            "train_mean_steps": mean_steps,
            "train_sd_steps": sd_steps,
            "train_ponder_cost": mean_ponder,
        }


class Training:
    """One trial in progress.

    Args:
        config: the trial.
        data: its train and dev splits and word vectors.
        device: where the model lives, such as "cpu" or "cuda".

    Attributes:
        history: the epochs so far.
        best_parameters: the model's parameters at the best dev accuracy so far.
        diverged: a loss was not finite; the trial ended on the parameters of the epoch before.
    """

    def __init__(self, config: TrialConfig, data: TrialData, device: str = "cpu") -> None:
        self.config = config
        self.data = data
        vectors = input_rows(data.words, config.input, config.seed)
        trained = trained_rows(data.words, config.input)
        self.model = build(config, vectors, trained).to(device)
        self.device = torch.device(device)
        self.optimizer = build_optimizer(self.model, config.training)
        self.history: list[EpochRecord] = []
        self.best_parameters: dict[str, Tensor] = {}
        self.diverged = False

    @property
    def parameters(self) -> int:
        """Trained parameters."""
        return parameter_count(self.model)

    @property
    def finished(self) -> bool:
        """All epochs are done, dev accuracy stopped improving, or training diverged."""
        epochs, patience = len(self.history), self.config.patience
        if self.diverged or epochs >= self.config.max_epochs:
            return True
        return patience > 0 and epochs > 0 and epochs - self.best_epoch >= patience

    @property
    def best_epoch(self) -> int:
        """The first epoch with the best dev accuracy so far."""
        return best_epoch(self.history).epoch

    def epochs(self) -> Iterator[EpochRecord]:
        """Train until finished, yielding each epoch's record; resumes where the history ends."""
        while not self.finished:
            yield self.run_epoch(len(self.history) + 1)

    def run_epoch(self, epoch: int) -> EpochRecord:
        """Train and evaluate once; keep the parameters if dev accuracy is better than before."""
        start = time.perf_counter()
        before = copy.deepcopy(self.model.state_dict())
        means = self.train_epoch(epoch)
        if self.diverged:
            self.model.load_state_dict(before)
        seconds = time.perf_counter() - start
        dev = evaluate(self.model, self.data.dev, self.config.input)
        mean_steps, sd_steps = mean_and_sd(dev.steps)
        record = EpochRecord(
            epoch=epoch,
            **means.summary(),  # type: ignore[arg-type]
            dev_loss=dev.loss,
            dev_accuracy=dev.accuracy,
            dev_mean_steps=mean_steps,
            dev_sd_steps=sd_steps,
            dev_ponder_cost=mean_and_sd(dev.ponder_cost)[0],
            ponder_weight=self.model.ponder_weight,
            seconds=seconds,
            examples_per_second=means.examples / seconds,
        )
        self.history.append(record)
        if self.best_epoch == epoch:
            self.best_parameters = copy.deepcopy(self.model.state_dict())
        return record

    def train_epoch(self, epoch: int) -> RunningMeans:
        """One pass over the training pairs; sets `diverged` and stops at a non-finite loss."""
        epoch_seed = self.config.seed * 100_003 + epoch
        torch.manual_seed(epoch_seed)
        order = torch.Generator().manual_seed(epoch_seed)
        means = RunningMeans()
        self.model.train()
        null_token = self.config.input.null_token
        self.model.start_epoch(epoch)
        batches = self.model.batches(self.data.train, self.config.training.batch_size, order)
        for update, index in enumerate(batches):
            key = update_key(self.config.seed, epoch, update)
            self.model.dropout_stream.restart(torch.tensor(key, dtype=torch.int32).to(self.device))
            batch = collate(self.data.train, index, null_token=null_token, device=self.device)
            prediction = self.model(batch)
            objective = self.model.objective(prediction, batch.labels)
            if not torch.isfinite(objective):
                self.diverged = True
                break
            self.optimizer.zero_grad(set_to_none=True)
            objective.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.training.clip_norm)
            self.optimizer.step()
            self.model.adapt(prediction, batch.labels)
            means.add(prediction, batch.labels)
        return means

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on after the last finished epoch."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "history": [vars(record) for record in self.history],
            "best_parameters": self.best_parameters,
            "diverged": self.diverged,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a saved training."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.history = [EpochRecord(**record) for record in state["history"]]
        self.best_parameters = state["best_parameters"]
        self.diverged = state["diverged"]
