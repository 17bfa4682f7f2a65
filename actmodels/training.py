"""Training on sentence pairs, as actmodels.model_training asks, and measuring on a split."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from actmodels.config import TrialConfig
from actmodels.data.pairs import FILLER, Batch, PairTensors, collate
from actmodels.data.trial_data import TrialData, input_rows, trained_rows
from actmodels.figures import EpochMeans, Figures, Marks, mean_and_sd
from actmodels.model_training import ModelTraining
from actmodels.models.pair_model import PairModel, build, parameter_count
from actmodels.prediction import Prediction, cross_entropies
from actmodels.settings import InputConfig, TrainConfig


class Evaluation(NamedTuple):
    """A model on a split, per pair scored, in the split's order.

    rows: [pairs], where each stands in the split; all of it but for the models as published.
    logits: [pairs, labels]. labels: [pairs].
    steps, ponder_cost: [pairs], or None for a model without halting.
    """

    rows: Tensor
    logits: Tensor
    labels: Tensor
    steps: Tensor | None
    ponder_cost: Tensor | None

    @property
    def predictions(self) -> Tensor:
        """The likeliest label of each pair [pairs]."""
        return self.logits.argmax(dim=1)

    @property
    def accuracy(self) -> float:
        """Share of right predictions, in [0, 1]."""
        return (self.predictions == self.labels).double().mean().item()

    @property
    def loss(self) -> float:
        """Mean cross-entropy in nats, without the ponder term."""
        return cross_entropy(self.logits.double(), self.labels).item()

    @property
    def figures(self) -> Figures:
        """All of it in a few numbers."""
        spread, ponder = mean_and_sd(self.steps), mean_and_sd(self.ponder_cost)
        return Figures(self.loss, self.accuracy, *spread, ponder[0])


def evaluate(
    model: PairModel, pairs: PairTensors, config: InputConfig, batch_size: int = 256
) -> Evaluation:
    """Score the pairs of a split without dropout, in the batches that the model makes of it."""
    rows, found = predicted(model, pairs, config, batch_size, lambda batch: batch)
    return Evaluation(rows, found.logits, pairs.labels[rows], found.steps, found.ponder_cost)


@torch.no_grad()
def predicted(
    model: PairModel,
    pairs: PairTensors,
    config: InputConfig,
    batch_size: int,
    given: Callable[[Batch], Batch],
) -> tuple[Tensor, Prediction]:
    """What a model or a pack says of a split, on the CPU.

    Args:
        given: what the model is given of a batch; a pack has a dimension more.

    Returns:
        where the scored pairs stand in the split [pairs], and the predictions in that order.
    """
    model.eval()
    device = next(model.parameters()).device
    predictions, scored = [], []
    for index in model.batches(pairs, batch_size):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        predictions.append(model(given(batch)))
        scored.append(index)
    rows, back = torch.sort(torch.cat(scored))

    def joined(parts: list[Tensor], dim: int) -> Tensor:
        return torch.cat(parts, dim).cpu().index_select(dim, back)

    steps = [one.steps for one in predictions if one.steps is not None]
    ponder = [one.ponder_cost for one in predictions if one.ponder_cost is not None]
    return rows, Prediction(
        joined([one.logits for one in predictions], -2),
        joined(steps, -1) if steps else None,
        joined(ponder, -1) if ponder else None,
    )


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


def pair_marks(prediction: Prediction, labels: Tensor) -> Marks:
    """What is kept of a batch; rows with the label FILLER do not count."""
    real = labels != FILLER
    losses = torch.where(real, cross_entropies(prediction.logits, labels), 0.0)
    right = (prediction.logits.argmax(dim=-1) == labels).sum(dim=-1)
    count = real.sum(dim=-1)
    steps, ponder = (
        None if values is None else values.detach()
        for values in (prediction.steps, prediction.ponder_cost)
    )
    return Marks(losses.sum(dim=-1), count, right, count, count, steps, ponder, real)


class Training(ModelTraining[TrialConfig, PairModel, Batch, Prediction]):
    """One trial in progress.

    Args:
        data: its train and dev splits and word vectors.
        rows: the input rows, where several trials share them.
    """

    def __init__(
        self, config: TrialConfig, data: TrialData, device: str = "cpu", rows: Tensor | None = None
    ) -> None:
        super().__init__(config, device)
        self.data = data
        rows = input_rows(data.words, config.input, config.seed) if rows is None else rows
        self.model = build(config, rows, trained_rows(data.words, config.input)).to(device)
        self.optimizer = build_optimizer(self.model, config.training)
        self.clip_norm = config.training.clip_norm
        self.dropout = self.model.dropout_stream

    @property
    def parameters(self) -> int:
        """Trained parameters without word vectors."""
        return parameter_count(self.model)

    @property
    def ponder_weight(self) -> float | None:
        """See ModelTraining."""
        weight = self.model.ponder_weight
        return None if weight is None else float(weight)

    def train_epoch(self) -> EpochMeans:
        """One pass over the training pairs."""
        self.model.start_epoch(self.next_epoch)
        return super().train_epoch()

    def batches(self, order: Generator) -> Iterator[Batch]:
        """See ModelTraining."""
        null_token = self.config.input.null_token
        size = self.config.training.batch_size
        for index in self.model.batches(self.data.train, size, order):
            yield collate(self.data.train, index, null_token=null_token, device=self.device)

    def forward(self, batch: Batch) -> Prediction:
        """See ModelTraining."""
        prediction: Prediction = self.model(batch)
        return prediction

    def objective(self, found: Prediction, batch: Batch) -> Tensor:
        """See ModelTraining."""
        return self.model.objective(found, batch.labels)

    def adapt(self, found: Prediction, batch: Batch) -> None:
        """See ModelTraining."""
        self.model.adapt(found, batch.labels)

    def marks(self, found: Prediction, batch: Batch) -> Marks:
        """See ModelTraining."""
        return pair_marks(found, batch.labels)

    def evaluated(self) -> Figures:
        """See ModelTraining."""
        return evaluate(self.model, self.data.dev, self.config.input).figures
