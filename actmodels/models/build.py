"""From a trial's configuration to its model.

Classes are found by the names in the registry and not imported here, so that the digest of a
model's code (actmodels.provenance) covers that model and its halting and no other.
"""

import torch
from torch import Tensor, nn

from actmodels.config import TrialConfig
from actmodels.models.pair_model import PairModel
from actmodels.registry import MODELS, load_class


def build(config: TrialConfig, vectors: Tensor) -> PairModel:
    """Make a trial's model, its parameters drawn by the trial's seed.

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.embeddings.
    """
    torch.manual_seed(config.seed)
    model = load_class(MODELS[config.model].model)
    parts = (config.network,) if config.halting is None else (config.network, config.halting)
    built: PairModel = model(*parts, vectors)
    return built


def parameter_count(model: nn.Module) -> int:
    """Trained parameters; the frozen word vectors do not count ("non-embedding parameters")."""
    return sum(parameter.numel() for parameter in model.parameters())
