"""A plain transformer over both sentences (Vaswani et al. 2017), as a control without steps."""

import torch
from torch import Tensor, nn

from actmodels.configs import TransformerConfig
from actmodels.data.pairs import Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.prediction import Prediction


def positions(tokens: int, width: int) -> Tensor:
    """Return sinusoidal positions [tokens, width] (Vaswani et al. 2017, section 3.5)."""
    rates = 10_000 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(tokens)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]


class Transformer(PairModel):
    """Encode [premise; hypothesis] together; classify the mean word of the hypothesis.

    Each sentence has positions from 0 and a vector of its own. Layers normalize first.
    """

    fusions = False  # torch's layers, with torch's dropout

    def __init__(self, config: TransformerConfig, vectors: Tensor, classes: int) -> None:
        super().__init__()
        width = config.width
        self.words = ProjectedWords(vectors, width, tanh=True)
        self.sentences = nn.Parameter(torch.randn(2, width))
        layer = nn.TransformerEncoderLayer(
            *(width, config.heads, 4 * width, config.dropout), batch_first=True, norm_first=True
        )
        norm = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoder(layer, config.layers, norm, enable_nested_tensor=False)
        self.classify = Linear(width, classes)
        initialize(self, config.init, config.init_std)

    def forward(self, batch: Batch) -> Prediction:
        sides = self.words.pair(batch.premise, batch.hypothesis)
        inputs = [
            words + positions(words.shape[1], words.shape[2]).to(words) + sentence
            for words, sentence in zip(sides, self.sentences, strict=True)
        ]
        mask = torch.cat([batch.premise_mask, batch.hypothesis_mask], dim=1)
        encoded = self.encoder(torch.cat(inputs, dim=1), src_key_padding_mask=~mask)
        words, own = encoded[:, batch.premise.shape[1] :], batch.hypothesis_mask[..., None]
        return Prediction(self.classify((words * own).sum(dim=1) / own.sum(dim=1)))
