"""From a trial's configuration to its model.

Classes are found by the names in the registry and not imported here, so that the digest of a
model's code (actmodels.provenance) covers that model and its halting and no other.
"""

import torch
from torch import Tensor, nn

from actmodels.config import TrialConfig
from actmodels.draws import seed_of
from actmodels.errors import ConfigError
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import share_stream
from actmodels.modules.projection import ProjectedWords
from actmodels.registry import MODELS, load_class


def word_tables(model: nn.Module) -> list[ProjectedWords]:
    """Where a model looks words up."""
    return [module for module in model.modules() if isinstance(module, ProjectedWords)]


def build(config: TrialConfig, vectors: Tensor, trained: Tensor | None = None) -> PairModel:
    """Make a trial's model, its parameters drawn by the trial's seed.

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.embeddings.
        trained: ids of the rows that are trained; the others are frozen.

    Raises:
        ConfigError: rows are to be trained, and the model looks no words up.
    """
    torch.manual_seed(seed_of("parameters", config.seed))
    model = load_class(MODELS[config.model].model)
    parts = (config.network,) if config.halting is None else (config.network, config.halting)
    built: PairModel = model(*parts, vectors)
    built.dropout_stream = share_stream(built)
    if trained is not None and len(trained) > 0:
        tables = word_tables(built)
        if not tables:
            problem = f"oov_rule is 'trained', but {config.model} has no words; set it to 'own'"
            raise ConfigError("trial", [problem])
        for table in tables:
            table.train_rows(trained)
    return built


def parameter_count(model: nn.Module) -> int:
    """Trained parameters without word vectors, even trained ones ("non-embedding parameters")."""
    rows = sum(t.trained.numel() for t in word_tables(model) if t.trained is not None)
    return sum(parameter.numel() for parameter in model.parameters()) - rows
