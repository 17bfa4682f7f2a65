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
    steps, word vectors [words, dimensions].
    """

    fusions = True  # whether models of the same shape can be fused (actmodels.fused.stack)
    halting: Objective  # an `Objective` without steps, else a `Halting`
    dropout_stream: DropoutStream

    def batches(
        self, pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
    ) -> Iterator[Tensor]:
        """Yield the pair indices of each batch; generator: in training, None in evaluation."""
        return batches_by_length(pairs, batch_size, generator)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Return the training objective: mean cross-entropy in nats + halting's terms."""
        return self.halting.objective(prediction, labels)

    @property
    def ponder_weight(self) -> float | Tensor | None:
        """Current weight of the ponder cost in the objective; None without one."""
        return self.halting.current_ponder_weight


def word_tables(model: nn.Module) -> list[WordTable]:
    """Return the embeddings of a model."""
    return [module for module in model.modules() if isinstance(module, WordTable)]


def build(config: TrialConfig, vectors: Tensor, trained: Tensor | None = None) -> PairModel:
    """Build the model of a trial, with parameters drawn from the trial's seed.

    Args:
        vectors: word vectors by token id [words, dimensions].
        trained: token ids whose vectors are trained; none by default.
    """
    torch.manual_seed(seed_of("parameters", config.seed))
    parts = (config.network,) if config.halting is None else (config.network, config.halting)
    model: PairModel = load_class(MODELS[config.model].model)(*parts, vectors)
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
