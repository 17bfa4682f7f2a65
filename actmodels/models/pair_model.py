"""Base class of sentence-pair models, and their construction by name."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from actmodels.data.pairs import PairTensors, batches_by_length
from actmodels.halting.base import Objective
from actmodels.modules.dropout import DropoutStream, share_stream
from actmodels.modules.projection import WordTable
from actmodels.prediction import Prediction
from actmodels.registry import MODELS, load_class
from actmodels.seeding import seed_of
from actmodels.trial_config import TrialConfig


class PairModel(nn.Module):
    """A model of sentence pairs: `forward` maps a Batch to a Prediction.

    Constructor arguments: network configuration, halting configuration if the model infers in
    steps, word vectors [words, dimensions], number of classes.
    """

    by_hand = True  # use hand-written derivatives where they apply, for first derivatives only
    fusions = True  # whether models of the same shape can be fused (actmodels.fused)
    l2: float | Tensor = 0.0  # see TrainConfig; [trials] when fused trials differ
    embedding_l2: float | Tensor = 0.0
    halting: Objective  # an `Objective` without steps, else a `Halting`
    dropout_stream: DropoutStream

    def batches(
        self, pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
    ) -> Iterator[Tensor]:
        """Yield the pair indices of each batch; generator: in training, None in evaluation."""
        return batches_by_length(pairs, batch_size, generator)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Return the objective: mean cross-entropy in nats + halting's terms + L2 penalty."""
        objective = self.halting.objective(prediction, labels)
        if any(isinstance(weight, Tensor) or weight for weight in (self.l2, self.embedding_l2)):
            return objective + self.l2_penalty().to(objective.dtype)
        return objective

    def l2_penalty(self) -> Tensor:
        """Return half the weighted squared norm of all trained parameters, by trial if fused."""
        words = {id(table.trained) for table in word_tables(self)}
        weights = ((self.embedding_l2 if id(p) in words else self.l2, p) for p in self.parameters())
        start = 1 if self.halting.fused else 0
        terms = [0.5 * weight * p.square().flatten(start).sum(-1) for weight, p in weights]
        return torch.stack(terms).sum(0)

    @property
    def ponder_weight(self) -> float | Tensor | None:
        """Current weight of the ponder cost in the objective; None without one."""
        return self.halting.current_ponder_weight


def word_tables(model: nn.Module) -> list[WordTable]:
    """Return the embeddings of a model."""
    return [module for module in model.modules() if isinstance(module, WordTable)]


def build(
    config: TrialConfig, vectors: Tensor, classes: int, trained: Tensor | None = None
) -> PairModel:
    """Build the model of a trial, with parameters drawn from the trial's seed.

    Args:
        vectors: word vectors by token id [words, dimensions].
        classes: number of classes.
        trained: token ids whose vectors are trained; none by default.
    """
    torch.manual_seed(seed_of("parameters", config.seed))
    parts = (config.network,) if config.halting is None else (config.network, config.halting)
    model: PairModel = load_class(MODELS[config.model].model)(*parts, vectors, classes)
    model.l2, model.embedding_l2 = config.training.l2, config.training.embedding_l2
    model.dropout_stream = share_stream(model)
    if not hasattr(model, "halting"):
        model.halting = Objective()
    if trained is not None and len(trained) > 0:
        for table in word_tables(model):
            table.train_words(trained)
    return model


def parameter_count(model: nn.Module) -> int:
    """Return the number of trained non-embedding parameters."""
    rows = sum(t.trained.numel() for t in word_tables(model) if t.trained is not None)
    return sum(parameter.numel() for parameter in model.parameters()) - rows
