"""Decomposable Attention with intra-sentence attention (Parikh et al. 2016, section 3.4)."""

import torch
from torch import Tensor

from actmodels.data.batching import Batch
from actmodels.data.labels import LABELS
from actmodels.models.pair_model import PairModel
from actmodels.models.prediction import Prediction
from actmodels.modules.alignment import SoftAlignment
from actmodels.modules.feedforward import FeedForward
from actmodels.modules.initialisation import initialise
from actmodels.modules.intra_attention import IntraAttention
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords
from actmodels.settings import DecomposableAttentionConfig


class DecomposableIntraAttention(PairModel):
    """Attend, compare and aggregate words that each know their own sentence.

    A word is twice as wide as in Decomposable Attention, so F is 2d-d-d and G is 4d-d-d; H stays
    2d-d-d. 582,225 trained parameters at width 200: the 582,203 of its matrices and their biases
    (Parikh et al. print 582k) and the 22 distance biases, which are trained as well.

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.embeddings.
    """

    def __init__(self, config: DecomposableAttentionConfig, vectors: Tensor) -> None:
        super().__init__()
        width, dropout = config.width, config.dropout
        self.words = ProjectedWords(vectors, width, tanh=False)
        self.intra = IntraAttention(width, dropout)
        self.alignment = SoftAlignment(width, dropout, inputs=2 * width)
        self.compare = FeedForward(4 * width, width, dropout)
        self.aggregate = FeedForward(2 * width, width, dropout)
        self.classify = Linear(width, len(LABELS))
        initialise(self, config.init, config.init_std)

    def forward(self, batch: Batch) -> Prediction:
        """Score a batch; see Prediction for shapes."""
        masks = (batch.premise_mask, batch.hypothesis_mask)
        premise, hypothesis = (
            self.intra(self.words(ids), mask)  # [batch, tokens, 2 · width]
            for ids, mask in zip((batch.premise, batch.hypothesis), masks, strict=True)
        )
        beta, alpha = self.alignment(premise, hypothesis, *masks)
        pairs = ((premise, beta), (hypothesis, alpha))
        compared = [
            (self.compare(torch.cat(pair, dim=-1)) * mask[..., None]).sum(dim=-2)  # [batch, width]
            for pair, mask in zip(pairs, masks, strict=True)
        ]
        return Prediction(self.classify(self.aggregate(torch.cat(compared, dim=-1))))
