"""The interface of models of sentence pairs, and how one is built by its name in the registry."""

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

    Built of its settings, those of its halting if it infers in steps, and the input rows [rows,
    dimensions]. fusions: models of one shape can run as one (actmodels.fused.stack). halting: when
    its steps end and what they cost; without steps, the loss alone.
    """

    fusions = True
    halting: Objective
    dropout_stream: DropoutStream

    def batches(
        self, pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
    ) -> Iterator[Tensor]:
        """Rows of each batch of an epoch of training, or of an evaluation (no generator)."""
        return batches_by_length(pairs, batch_size, generator)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """What training minimises: mean cross-entropy in nats, and what halting adds to it."""
        return self.halting.objective(prediction, labels)

    @property
    def ponder_weight(self) -> float | Tensor | None:
        """The weight of the ponder cost in the objective now; None without one."""
        return self.halting.current_ponder_weight


def word_tables(model: nn.Module) -> list[WordTable]:
    """Where a model looks words up."""
    return [module for module in model.modules() if isinstance(module, WordTable)]


def build(config: TrialConfig, vectors: Tensor, trained: Tensor | None = None) -> PairModel:
    """Build a model, its parameters drawn by the trial's seed; `trained`: ids of trained rows."""
    torch.manual_seed(seed_of("parameters", config.seed))
    model = load_class(MODELS[config.model].model)
    parts = (config.network,) if config.halting is None else (config.network, config.halting)
    built: PairModel = model(*parts, vectors)
    built.dropout_stream = share_stream(built)
    if not hasattr(built, "halting"):
        built.halting = Objective()
    if trained is not None and len(trained) > 0:
        for table in word_tables(built):
            table.train_rows(trained)
    return built


def parameter_count(model: nn.Module) -> int:
    """Trained parameters without word vectors, even trained ones ("non-embedding parameters")."""
    rows = sum(t.trained.numel() for t in word_tables(model) if t.trained is not None)
    return sum(parameter.numel() for parameter in model.parameters()) - rows
