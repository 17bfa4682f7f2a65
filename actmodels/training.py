"""Training on sentence pairs, and evaluation on a split."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from actmodels.configs import InputConfig, TrainConfig
from actmodels.data.pairs import BATCH_SIZE, FILLER, Batch, PairTensors, collate
from actmodels.data.trial_data import TrialData, input_vectors, subset, trained_words
from actmodels.metrics import BatchMetrics, EpochMetrics, Metrics, Outcome, mean_and_sd
from actmodels.model_training import ModelTraining
from actmodels.models.pair_model import PairModel, build, parameter_count
from actmodels.prediction import Prediction, concatenated, cross_entropies
from actmodels.trial_config import TrialConfig


class Evaluation(NamedTuple):
    """Predictions of a model for the scored pairs of a split, in the split's order."""

    rows: Tensor  # index of each scored pair in the split [pairs]
    logits: Tensor  # [pairs, labels]
    labels: Tensor  # [pairs]
    steps: Tensor | None  # [pairs]; None without halting
    ponder_cost: Tensor | None  # [pairs]; None without halting

    @property
    def predictions(self) -> Tensor:
        """Predicted label of each pair [pairs]."""
        return self.logits.argmax(dim=1)

    @property
    def accuracy(self) -> float:
        """Share of correct predictions, in [0, 1]."""
        return (self.predictions == self.labels).double().mean().item()

    @property
    def loss(self) -> float:
        """Mean cross-entropy in nats, without the ponder cost."""
        return cross_entropy(self.logits.double(), self.labels).item()

    @property
    def metrics(self) -> Metrics:
        ponder_cost, _ = mean_and_sd(self.ponder_cost)
        return Metrics(self.loss, self.accuracy, *mean_and_sd(self.steps), ponder_cost)

    def trial(self, number: int) -> "Evaluation":
        """Return the evaluation of one trial of a fusion."""
        steps, cost = (None if v is None else v[number] for v in (self.steps, self.ponder_cost))
        return self._replace(logits=self.logits[number], steps=steps, ponder_cost=cost)


@torch.no_grad()
def evaluate(
    model: PairModel,
    pairs: PairTensors,
    config: InputConfig,
    batch_size: int = BATCH_SIZE,
    transform: Callable[[Batch], Batch] = lambda batch: batch,
) -> Evaluation:
    """Evaluate a model on a split, without dropout, after `transform` of each batch."""
    model.eval()
    device = next(model.parameters()).device
    predictions, scored = [], []
    for index in model.batches(pairs, batch_size):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        predictions.append(model(transform(batch))[:3])  # logits, steps, ponder cost
        scored.append(index)
    rows, order = torch.sort(torch.cat(scored))
    logits, steps, ponder_cost = (
        None if part is None else part.cpu().index_select(dim, order)
        for part, dim in zip(concatenated(predictions), (-2, -1, -1), strict=True)
    )
    assert logits is not None
    return Evaluation(rows, logits, pairs.labels[rows], steps, ponder_cost)


def build_optimizer(model: PairModel, config: TrainConfig) -> torch.optim.Optimizer:
    """Build Adam (Kingma & Ba 2014), or Adagrad with its initial accumulator (torch: 0)."""
    parameters, rate = list(model.parameters()), config.learning_rate
    fused, start = parameters[0].device.type == "cpu", config.adagrad_accumulator
    if config.optimizer == "adam":
        return torch.optim.Adam(parameters, rate, fused=fused)
    return torch.optim.Adagrad(parameters, rate, initial_accumulator_value=start, fused=fused)


def pair_metrics(outcomes: Sequence[Outcome]) -> list[BatchMetrics]:
    """Return the metrics of all batches together, without rows whose label is FILLER.

    outcomes: logits, steps, ponder costs and labels of each batch.
    """
    if not outcomes:
        return []
    logits, steps, ponder, labels = concatenated(outcomes)
    assert logits is not None and labels is not None
    real = labels != FILLER
    losses = torch.where(real, cross_entropies(logits, labels), 0.0)
    right = (logits.argmax(dim=-1) == labels).sum(dim=-1)
    count = real.sum(dim=-1)
    return [BatchMetrics(losses, count, right, count, count, steps, ponder, real)]


class Training(ModelTraining[TrialConfig, PairModel, Batch, Prediction]):
    """Training of one trial; vectors: of words, if several trials share them."""

    batch_metrics = staticmethod(pair_metrics)

    def __init__(
        self,
        config: TrialConfig,
        data: TrialData,
        device: str = "cpu",
        vectors: Tensor | None = None,
    ) -> None:
        super().__init__(config, device)
        self.data = data
        self.train = subset(data.train, config.training.train_pairs)
        if vectors is None:
            vectors = input_vectors(data.words, config.input, config.seed)
        trained = trained_words(data.words, config.input)
        self.model = build(config, vectors, len(data.train.classes), trained).to(device)
        self.optimizer = build_optimizer(self.model, config.training)
        self.clip_norm = config.training.clip_norm
        self.dropout = self.model.dropout_stream

    @property
    def parameters(self) -> int:
        """Number of trained non-embedding parameters."""
        return parameter_count(self.model)

    @property
    def ponder_weight(self) -> float | Tensor | None:
        return self.model.ponder_weight

    def train_epoch(self) -> EpochMetrics:
        settings = self.config.training
        self.set_rate(settings.learning_rate, settings.final_rate)
        self.model.halting.start_epoch(self.next_epoch)
        return super().train_epoch()

    def batches(self, order: Generator) -> Iterator[Batch]:
        null_token = self.config.input.null_token
        for index in self.model.batches(self.train, self.config.training.batch_size, order):
            yield collate(self.train, index, null_token=null_token, device=self.device)

    def objective(self, output: Prediction, batch: Batch) -> Tensor:
        return self.model.objective(output, batch.labels)

    def on_update_end(self, output: Prediction, batch: Batch) -> None:
        self.model.halting.on_update_end(output, batch.labels)

    def outcome(self, output: Prediction, batch: Batch) -> Outcome:
        return *output[:3], batch.labels

    def dev_metrics(self) -> Metrics:
        return evaluate(self.model, self.data.dev, self.config.input).metrics
