"""Decomposable Attention: attend, compare, aggregate (Parikh et al. 2016)."""

import torch
from torch import Tensor, nn

from actmodels.configs import LABELS, DecomposableAttentionConfig
from actmodels.data.pairs import Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import FeedForward, SoftAlignment, masked_softmax
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.prediction import Prediction

FARTHEST = 10  # words; all distances beyond it share one bias (Parikh et al.)
BIASES = 2 * FARTHEST + 2  # i - j = -10 ... 10, and one for what is farther, before or after


class IntraAttention(nn.Module):
    """Append to each word the words of its sentence that it attends to (section 3.4).

    f_ij = F(a_i) · F(a_j);  a'_i = sum_j softmax_j(f_ij + d_{i-j}) a_j;  a_i becomes [a_i; a'_i]

    F and the distance biases d serve both sentences. The biases start at 0 and are signed: the word
    before and the word after have one each, |i - j| > 10 a single one. A NULL token is a token one
    position before the first word.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.attend = FeedForward(width, width, dropout)
        self.distance = nn.Parameter(torch.zeros(BIASES))

    def weights(self, words: Tensor, mask: Tensor) -> Tensor:
        """How much token i attends to token j [batch, tokens, tokens]; rows sum to 1."""
        attending = self.attend(words)
        scores = attending @ attending.transpose(-1, -2)
        positions = torch.arange(words.shape[-2], device=words.device)
        offsets = positions[:, None] - positions[None, :]  # i - j
        biases = torch.where(offsets.abs() > FARTHEST, BIASES - 1, offsets + FARTHEST)
        scores = scores + self.distance[..., biases].unsqueeze(-3)
        return masked_softmax(scores, mask[..., None, :])

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Map words [batch, tokens, width] with mask [batch, tokens] to twice the width."""
        return torch.cat([words, self.weights(words, mask) @ words], dim=-1)


class DecomposableAttention(PairModel):
    """Compare each word with what it aligns to in the other sentence, and sum the comparisons.

    By Parikh et al. (G: 2d-d-d, H: 2d-d-d, linear projection without bias): 381,803 trained
    parameters at width 200. The 2016 code had 1.75 M: wider G and H.
    """

    knows_own_sentence = False

    def __init__(self, config: DecomposableAttentionConfig, vectors: Tensor) -> None:
        super().__init__()
        width, dropout = config.width, config.dropout
        size = 2 * width if self.knows_own_sentence else width  # of a word, once it is encoded
        self.words = ProjectedWords(vectors, width, tanh=False)
        self.intra = IntraAttention(width, dropout) if self.knows_own_sentence else None
        self.alignment = SoftAlignment(size, width, dropout)
        self.compare = FeedForward(2 * size, width, dropout)
        self.aggregate = FeedForward(2 * width, width, dropout)
        self.classify = Linear(width, len(LABELS))
        initialize(self, config.init, config.init_std)

    def encoded(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Map token ids [batch, tokens] to words [batch, tokens, size]."""
        words: Tensor = self.words(ids)
        return words if self.intra is None else self.intra(words, mask)

    def forward(self, batch: Batch) -> Prediction:
        masks = (batch.premise_mask, batch.hypothesis_mask)
        premise = self.encoded(batch.premise, masks[0])  # [batch, premise, size]
        hypothesis = self.encoded(batch.hypothesis, masks[1])  # [batch, hypothesis, size]
        beta, alpha = self.alignment(premise, hypothesis, *masks)
        pairs = (torch.cat([premise, beta], dim=-1), torch.cat([hypothesis, alpha], dim=-1))
        sides = [self.sum_comparisons(*side) for side in zip(pairs, masks, strict=True)]
        return Prediction(self.classify(self.aggregate(torch.cat(sides, dim=-1))))

    def sum_comparisons(self, pairs: Tensor, mask: Tensor) -> Tensor:
        """Aggregate words with what they align to [batch, tokens, 2 · size] to [batch, width]."""
        return summed(self.compare(pairs), mask)


def summed(words: Tensor, mask: Tensor) -> Tensor:
    """The sum of the real words [batch, size], of [batch, tokens, size]."""
    return (words * mask[..., None]).sum(dim=-2)


def masked_mean(words: Tensor, mask: Tensor) -> Tensor:
    """Their mean."""
    return summed(words, mask) / mask.sum(dim=-1, keepdim=True)


class DecomposableIntraAttention(DecomposableAttention):
    """Decomposable Attention over words that each know their own sentence (section 3.4).

    582,225 trained parameters at width 200: Parikh et al.'s 582k and the 22 distance biases.
    """

    knows_own_sentence = True


class MeanPoolDecomposableAttention(DecomposableAttention):
    """Decomposable Attention with a mean in place of the sum over words (ours)."""

    def sum_comparisons(self, pairs: Tensor, mask: Tensor) -> Tensor:
        return masked_mean(self.compare(pairs), mask)


class PoolFirstDecomposableAttention(DecomposableAttention):
    """Decomposable Attention that averages words and their alignments before it compares (ours)."""

    def sum_comparisons(self, pairs: Tensor, mask: Tensor) -> Tensor:
        return self.compare(masked_mean(pairs, mask))
