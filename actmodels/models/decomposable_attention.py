"""Decomposable Attention: attend, compare, aggregate (Parikh et al. 2016)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from actmodels.by_hand.decomposable import TYPES, DecomposableByHand
from actmodels.by_hand.parts import applies
from actmodels.configs import DecomposableAttentionConfig
from actmodels.data.pairs import Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import FeedForward, SoftAlignment, masked_softmax
from actmodels.modules.dropout import Dropout, mask_sequence, offsets, places, windows
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.prediction import Prediction

MAX_DISTANCE = 10  # words; all larger distances share one bias (Parikh et al.)
BIASES = 2 * MAX_DISTANCE + 2  # i - j = -10 ... 10, and one for all larger distances


class IntraAttention(nn.Module):
    """Intra-sentence attention (Parikh et al. 2016 section 3.4), shared by both sentences.

    f_ij = F(a_i) · F(a_j);  a'_i = sum_j softmax_j(f_ij + d_{i-j}) a_j;  output [a_i; a'_i]

    The distance biases d are signed and initialized to 0; |i - j| > 10 has a single one. A NULL
    token is at the position before the first word.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.attend = FeedForward(width, width, dropout)
        self.distance = nn.Parameter(torch.zeros(BIASES))

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Map words [batch, tokens, width] with their mask to [batch, tokens, 2 · width]."""
        projected = self.attend(words)
        scores = projected @ projected.transpose(-1, -2)
        positions = torch.arange(words.shape[-2], device=words.device)
        offsets = positions[:, None] - positions[None, :]  # i - j
        biases = torch.where(offsets.abs() > MAX_DISTANCE, BIASES - 1, offsets + MAX_DISTANCE)
        scores = scores + self.distance[..., biases].unsqueeze(-3)
        weights = masked_softmax(scores, mask[..., None, :])
        return torch.cat([words, weights @ words], dim=-1)


class DecomposableAttention(PairModel):
    """Attend (align words by F), compare (G on [word; alignment]), aggregate (H on the sums).

    As Parikh et al.: G 2d-d-d, H 2d-d-d, linear projection without bias. 381,803 trained parameters
    at width 200 (published: 382k; the 2016 code with wider G and H: 1.75M).
    """

    intra_attention = False

    def __init__(self, config: DecomposableAttentionConfig, vectors: Tensor, classes: int) -> None:
        super().__init__()
        width, dropout = config.width, config.dropout
        size = 2 * width if self.intra_attention else width  # of an encoded word
        self.words = ProjectedWords(vectors, width, tanh=False)
        self.intra = IntraAttention(width, dropout) if self.intra_attention else None
        self.alignment = SoftAlignment(size, width, dropout)
        self.compare = FeedForward(2 * size, width, dropout)
        self.aggregate = FeedForward(2 * width, width, dropout)
        self.classify = Linear(width, classes)
        initialize(self, config.init, config.init_std)

    def encode(self, words: Tensor, mask: Tensor) -> Tensor:
        """Map words [batch, tokens, width] to [batch, tokens, size]."""
        return words if self.intra is None else self.intra(words, mask)

    def is_by_hand(self, mask: Tensor) -> bool:
        """Return whether `DecomposableByHand` computes this model: in training, not fused."""
        names = ("encode", "compare_words")
        own = any(getattr(type(self), n) is not getattr(DecomposableAttention, n) for n in names)
        if not (self.training and torch.is_grad_enabled()) or own or self.intra is not None:
            return False
        parts = (self.classify, self.words, self.alignment, self.compare, self.aggregate)
        return self.classify.weight.dim() == 2 and applies(self, parts, TYPES, mask)

    def forward(self, batch: Batch) -> Prediction:
        masks = (batch.premise_mask, batch.hypothesis_mask)
        if self.is_by_hand(batch.premise_mask):
            return Prediction(self.forward_by_hand(batch, masks))
        words = self.words.pair(batch.premise, batch.hypothesis)
        # [batch, premise, size], [batch, hypothesis, size]
        premise, hypothesis = map(self.encode, words, masks)
        beta, alpha = self.alignment(premise, hypothesis, *masks)
        pairs = (torch.cat([premise, beta], dim=-1), torch.cat([hypothesis, alpha], dim=-1))
        sums = [self.compare_words(*side) for side in zip(pairs, masks, strict=True)]
        return Prediction(self.classify(self.aggregate(torch.cat(sums, dim=-1))))

    def forward_by_hand(self, batch: Batch, masks: tuple[Tensor, Tensor]) -> Tensor:
        """Return the logits with the hand-written backward pass."""
        sides = (batch.premise, batch.hypothesis)
        distinct, rows = torch.cat(sides, dim=-1).unique(return_inverse=True)
        layers = (self.alignment.attend, self.compare, self.aggregate)
        computation = DecomposableByHand(
            self.words.look_up(distinct),
            self.words.projection,
            layers,
            self.classify,
            rows.split([side.shape[-1] for side in sides], dim=-1),
            masks,
            self.dropout_masks([side.shape for side in sides], layers),
        )
        return computation.apply()

    def dropout_masks(
        self, shapes: Sequence[torch.Size], layers: Sequence[FeedForward]
    ) -> list[Tensor | None]:
        """Draw the masks of `forward` in its order, those of both sentences in one matrix."""
        dropout, like = self.aggregate.layers[0], self.classify.weight
        if not isinstance(dropout, Dropout) or dropout.idle:
            return [None] * 6
        keys = self.dropout_stream.next_keys(10, like.device)
        sides = zip(keys[:8].view(2, 2, 2, 1).unbind(1), shapes, strict=True)  # [layer, call, 1]
        words = torch.cat([key + places(tuple(s), like.device).flatten() for key, s in sides], -1)
        pairs = keys[8:, None] + places((shapes[0][0],), like.device)
        at = offsets(torch.cat([words.flatten(), pairs.flatten()]))  # in one pass over both
        rows = [*at[: words.numel()].view(4, -1), *at[words.numel() :].view(2, -1)]
        sequence = mask_sequence(float(dropout.rate), like.dtype, like.device)
        widths = [linear.in_features for layer in layers for linear in layer.linear]
        sizes = zip(rows, widths, strict=True)
        return [windows(sequence, at, (len(at), width)) for at, width in sizes]

    def compare_words(self, pairs: Tensor, mask: Tensor) -> Tensor:
        """Compare and sum [word; alignment] pairs [batch, tokens, 2 · size] to [batch, width]."""
        return masked_sum(self.compare(pairs), mask)


def masked_sum(words: Tensor, mask: Tensor) -> Tensor:
    """Sum words [batch, tokens, size] over unmasked tokens to [batch, size]."""
    return (words * mask[..., None]).sum(dim=-2)


def masked_mean(words: Tensor, mask: Tensor) -> Tensor:
    """Average words [batch, tokens, size] over unmasked tokens to [batch, size]."""
    return masked_sum(words, mask) / mask.sum(dim=-1, keepdim=True)


class DecomposableIntraAttention(DecomposableAttention):
    """Decomposable Attention with intra-sentence attention (section 3.4).

    582,225 trained parameters at width 200: Parikh et al.'s 582k and the 22 distance biases.
    """

    intra_attention = True


class MeanPoolDecomposableAttention(DecomposableAttention):
    """Decomposable Attention with a mean instead of the sum over words (ours)."""

    def compare_words(self, pairs: Tensor, mask: Tensor) -> Tensor:
        return masked_mean(self.compare(pairs), mask)


class PoolFirstDecomposableAttention(DecomposableAttention):
    """Decomposable Attention that averages [word; alignment] before the comparison (ours)."""

    def compare_words(self, pairs: Tensor, mask: Tensor) -> Tensor:
        return self.compare(masked_mean(pairs, mask))
