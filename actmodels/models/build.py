"""The one place that lists the models."""

import torch
from torch import Tensor, nn

from actmodels.config import AdaptiveAttentionConfig, DecomposableAttentionConfig, TrialConfig
from actmodels.models.adaptive_attention import AdaptiveAttention
from actmodels.models.decomposable_attention import DecomposableAttention

Model = AdaptiveAttention | DecomposableAttention


def build(config: TrialConfig, vectors: Tensor) -> Model:
    """Make a trial's model, its parameters drawn by the trial's seed.

    Args:
        vectors: frozen input rows [rows, dimensions], see actmodels.data.embeddings.
    """
    torch.manual_seed(config.seed)
    match config.network:
        case AdaptiveAttentionConfig():
            return AdaptiveAttention(config.network, vectors)
        case DecomposableAttentionConfig():
            return DecomposableAttention(config.network, vectors)


def parameter_count(model: nn.Module) -> int:
    """Trained parameters; the frozen word vectors do not count ("non-embedding parameters")."""
    return sum(parameter.numel() for parameter in model.parameters())
