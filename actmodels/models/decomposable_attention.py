"""Decomposable Attention: attend, compare, aggregate (Parikh et al. 2016)."""

import torch
from torch import Tensor

from actmodels.data.batching import Batch
from actmodels.data.labels import LABELS
from actmodels.models.pair_model import PairModel
from actmodels.models.prediction import Prediction
from actmodels.modules.alignment import SoftAlignment
from actmodels.modules.feedforward import FeedForward
from actmodels.modules.initialisation import initialise
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords
from actmodels.settings import DecomposableAttentionConfig


class DecomposableAttention(PairModel):
    """Compare each word with what it aligns to in the other sentence, and sum the comparisons.

    Follows Parikh et al. (G: 2d-d-d, H: 2d-d-d, linear projection without bias): 381,803
    trained parameters at width 200. The 2016 code had 1.75 M: wider G and H.

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.embeddings.
    """

    def __init__(self, config: DecomposableAttentionConfig, vectors: Tensor) -> None:
        super().__init__()
        width, dropout = config.width, config.dropout
        self.words = ProjectedWords(vectors, width, tanh=False)
        self.alignment = SoftAlignment(width, dropout)
        self.compare = FeedForward(2 * width, width, dropout)
        self.aggregate = FeedForward(2 * width, width, dropout)
        self.classify = Linear(width, len(LABELS))
        initialise(self, config.init, config.init_std)

    def forward(self, batch: Batch) -> Prediction:
        """Score a batch; see Prediction for shapes."""
        premise = self.words(batch.premise)  # [batch, premise, width]
        hypothesis = self.words(batch.hypothesis)  # [batch, hypothesis, width]
        beta, alpha = self.alignment(premise, hypothesis, batch.premise_mask, batch.hypothesis_mask)
        compared = [
            (self.compare(torch.cat(pair, dim=-1)) * mask[..., None]).sum(dim=-2)  # [batch, width]
            for pair, mask in (
                ((premise, beta), batch.premise_mask),
                ((hypothesis, alpha), batch.hypothesis_mask),
            )
        ]
        return Prediction(self.classify(self.aggregate(torch.cat(compared, dim=-1))))
