"""Attention of a sentence to itself (Parikh et al. 2016, section 3.4)."""

import torch
from torch import Tensor, nn

from actmodels.modules.feedforward import FeedForward
from actmodels.modules.masking import masked_softmax

FARTHEST = 10  # words; all distances beyond it share one bias (Parikh et al.)
BIASES = 2 * FARTHEST + 2  # i - j = -10 ... 10, and one for what is farther, before or after


class IntraAttention(nn.Module):
    """Append to each word the words of its sentence that it attends to.

    f_ij = F(a_i) · F(a_j);  a'_i = sum_j softmax_j(f_ij + d_{i-j}) a_j;  a_i becomes [a_i; a'_i]

    F and the distance biases d serve both sentences. Of d_{i-j} we read the sign too: the word
    before and the word after have a bias each, and |i - j| > 10 has a single one. The biases
    start at 0. A NULL token is a token: it stands one position before the first word, attends
    and is attended to.

    Args:
        width: size of a word and units of each layer of F. dropout: see FeedForward.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.attend = FeedForward(width, width, dropout)
        self.distance = nn.Parameter(torch.zeros(BIASES))

    def weights(self, words: Tensor, mask: Tensor) -> Tensor:
        """How much token i attends to token j [batch, tokens, tokens]; rows sum to 1."""
        attending = self.attend(words)
        scores = attending @ attending.transpose(-1, -2)
        scores = scores + self.distance[..., self.buckets(words)].unsqueeze(-3)
        return masked_softmax(scores, mask[..., None, :])

    def buckets(self, words: Tensor) -> Tensor:
        """Which bias stands for i - j [tokens, tokens]."""
        positions = torch.arange(words.shape[-2], device=words.device)
        offsets = positions[:, None] - positions[None, :]
        far = offsets.abs() > FARTHEST
        return torch.where(far, BIASES - 1, offsets + FARTHEST)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Map words [batch, tokens, width] with mask [batch, tokens] to twice the width."""
        return torch.cat([words, self.weights(words, mask) @ words], dim=-1)
