"""Soft alignment of two sentences (paper eq. 1-2; Parikh et al. 2016, "attend")."""

from torch import Tensor, nn

from actmodels.modules.feedforward import FeedForward
from actmodels.modules.masking import masked_softmax


class SoftAlignment(nn.Module):
    """Align each token with the other sentence: e_ij = F(h_i) · F(p_j), F shared.

    The 2016 code paired the weights of one example with the words of another (it flattened
    weights and words in different orders); a batched matrix product cannot.

    Args:
        width: units of each layer of F. dropout: see FeedForward.
        inputs: size of the words that F reads and that are aligned; `width` if not given.
    """

    def __init__(self, width: int, dropout: float, *, inputs: int | None = None) -> None:
        super().__init__()
        self.attend = FeedForward(width if inputs is None else inputs, width, dropout)

    def forward(
        self, premise: Tensor, hypothesis: Tensor, premise_mask: Tensor, hypothesis_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the hypothesis aligned to the premise and the premise aligned to the hypothesis.

        Args:
            premise: words [batch, premise, inputs].
            hypothesis: words [batch, hypothesis, inputs].
            premise_mask: true for real tokens [batch, premise].
            hypothesis_mask: true for real tokens [batch, hypothesis].

        Returns:
            beta [batch, premise, inputs] and alpha [batch, hypothesis, inputs].
        """
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
