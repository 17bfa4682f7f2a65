"""Soft alignment of two sentences (paper eq. 1-2), and its layers (Parikh et al. 2016)."""

from torch import Tensor, nn

from actmodels.modules.attention import masked_softmax
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear


class FeedForward(nn.Module):
    """ReLU(W2 · ReLU(W1 · x)), with dropout before each layer (Parikh et al. 2016)."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        first = (Dropout(dropout), Linear(inputs, width), nn.ReLU())
        self.layers = nn.Sequential(*first, Dropout(dropout), Linear(width, width), nn.ReLU())

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [..., inputs] to [..., width]."""
        return self.layers(inputs)


class SoftAlignment(nn.Module):
    """Align each token with the other sentence: e_ij = F(h_i) · F(p_j), F shared."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.attend = FeedForward(inputs, width, dropout)

    def forward(
        self, premise: Tensor, hypothesis: Tensor, premise_mask: Tensor, hypothesis_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Align words [batch, tokens, inputs]: beta, then the premise's alpha, same shapes."""
        scores = self.attend(premise) @ self.attend(hypothesis).transpose(-1, -2)  # [b, p, h]
        over_hypothesis = masked_softmax(scores, hypothesis_mask[..., None, :], dim=-1)
        over_premise = masked_softmax(scores, premise_mask[..., None], dim=-2)
        return (
            self.summed(over_hypothesis, hypothesis),
            self.summed(over_premise.transpose(-1, -2), premise),
        )

    def summed(self, weights: Tensor, words: Tensor) -> Tensor:
        """Sum each example's words by its own weights [batch, positions, tokens]."""
        return weights @ words
