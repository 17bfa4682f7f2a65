"""Training one trial, epoch by epoch, with a state that can be saved and taken up again.

Every epoch seeds its own random numbers from (seed, epoch): a run that is interrupted after any
epoch and resumed gives the same bits as one that was not.
"""

import torch
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from actmodels.config import TrialConfig
from actmodels.data.batching import collate
from actmodels.data.embeddings import input_rows, trained_rows
from actmodels.data.trial_data import TrialData
from actmodels.epoch_means import EpochMeans, epoch_record
from actmodels.evaluation import evaluate
from actmodels.model_training import ModelTraining
from actmodels.models.build import build, parameter_count
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import update_key
from actmodels.records import EpochRecord
from actmodels.settings import TrainConfig


def build_optimizer(model: PairModel, config: TrainConfig) -> torch.optim.Optimizer:
    """Adam (Kingma & Ba 2014) or Adagrad with its start accumulator named (torch's own is 0)."""
    fused = all(parameter.device.type == "cpu" for parameter in model.parameters())
    if config.optimizer == "adam":
        return torch.optim.Adam(model.parameters(), lr=config.learning_rate, fused=fused)
    return torch.optim.Adagrad(
        model.parameters(),
        lr=config.learning_rate,
        initial_accumulator_value=config.adagrad_accumulator,
        fused=fused,
    )


class Training(ModelTraining[TrialConfig, PairModel, EpochMeans]):
    """One trial in progress.

    Args:
        config: the trial.
        data: its train and dev splits and word vectors.
        device: where the model lives, such as "cpu" or "cuda".
    """

    def __init__(self, config: TrialConfig, data: TrialData, device: str = "cpu") -> None:
        super().__init__(config)
        self.data = data
        vectors = input_rows(data.words, config.input, config.seed)
        trained = trained_rows(data.words, config.input)
        self.model = build(config, vectors, trained).to(device)
        self.device = torch.device(device)
        self.optimizer = build_optimizer(self.model, config.training)

    @property
    def parameters(self) -> int:
        """Trained parameters."""
        return parameter_count(self.model)

    def measured(self, means: EpochMeans, seconds: float) -> EpochRecord:
        """Score the dev pairs, and give the epoch's record."""
        weight = self.model.ponder_weight
        return epoch_record(
            self.next_epoch,
            means.summary(),
            evaluate(self.model, self.data.dev, self.config.input),
            ponder_weight=None if weight is None else float(weight),
            seconds=seconds,
            examples=means.examples(),
        )

    def train_epoch(self) -> EpochMeans:
        """One pass over the training pairs; sets `diverged` and stops at a non-finite loss."""
        order = self.epoch_generator
        means = EpochMeans()
        self.model.train()
        self.model.start_epoch(self.next_epoch)
        null_token = self.config.input.null_token
        batches = self.model.batches(self.data.train, self.config.training.batch_size, order)
        for update, index in enumerate(batches):
            key = update_key(self.config.seed, self.next_epoch, update)
            self.model.dropout_stream.restart(key.to(self.device))
            batch = collate(self.data.train, index, null_token=null_token, device=self.device)
            prediction = self.model(batch)
            objective = self.model.objective(prediction, batch.labels)
            if not torch.isfinite(objective):
                self.diverged = True
                break
            self.optimizer.zero_grad(set_to_none=True)
            objective.backward()
            self.clip_gradients()
            self.optimizer.step()
            self.model.adapt(prediction, batch.labels)
            means.add(prediction, batch.labels)
        return means

    def clip_gradients(self) -> None:
        """Scale all gradients so that their norm is at most clip_norm."""
        limit = self.config.training.clip_norm
        parameters = [p for p in self.model.parameters() if p.grad is not None]
        norm = get_total_norm([p.grad for p in parameters if p.grad is not None])
        # On the CPU reading the norm costs nothing, and most updates need no pass over them.
        if norm.device.type != "cpu" or not norm <= limit:
            clip_grads_with_norm_(parameters, limit, norm)
