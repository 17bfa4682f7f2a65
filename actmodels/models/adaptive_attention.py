"""Adaptive Attention: alternating attention over aligned words (paper section 3; thesis' ADA)."""

import torch
from torch import Tensor

from actmodels.configs import AdaptiveAttentionConfig
from actmodels.data.pairs import Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.attention import FeedForward, SoftAlignment
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import InferenceStep, PairMemory
from actmodels.modules.linear import initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.registry import HaltingConfig


class AdaptiveAttention(AlternatingAttention):
    """Remember each word with what it aligns to in the other sentence.

    By the paper's equations, not the 2016 code: bilinear attention, two-layer gates, memories of
    twice the width; 982,716 trained parameters at width 128, state 200, gate 128.
    """

    def __init__(
        self, config: AdaptiveAttentionConfig, halting: HaltingConfig, vectors: Tensor
    ) -> None:
        sizes = (2 * config.width, config.state_size, config.gate_size)
        super().__init__(halting, InferenceStep(*sizes, config.dropout), config.state_size)
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.alignment = SoftAlignment(config.width, config.width, config.dropout)
        self.memory_dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)

    def memories(self, batch: Batch) -> PairMemory:
        """Align the sentences; words of size 2 · width."""
        premise, hypothesis = self.words(batch.premise), self.words(batch.hypothesis)
        masks = (batch.premise_mask, batch.hypothesis_mask)
        beta, alpha = self.alignment(premise, hypothesis, *masks)
        premise = self.memory_dropout(self.build_memory(torch.cat([beta, premise], dim=-1)))
        hypothesis = self.memory_dropout(self.build_memory(torch.cat([alpha, hypothesis], dim=-1)))
        return PairMemory(premise, masks[0], hypothesis, masks[1])

    def build_memory(self, pairs: Tensor) -> Tensor:
        """What is kept of words with what they align to [batch, tokens, 2 · width]: all of it."""
        return pairs


class CompareAdaptiveAttention(AdaptiveAttention):
    """Adaptive Attention whose memories are comparisons of words by a G of 2d-2d-2d (ours)."""

    def __init__(
        self, config: AdaptiveAttentionConfig, halting: HaltingConfig, vectors: Tensor
    ) -> None:
        super().__init__(config, halting, vectors)
        self.compare = FeedForward(2 * config.width, 2 * config.width, config.dropout)
        initialize(self.compare, config.init, config.init_std)

    def build_memory(self, pairs: Tensor) -> Tensor:
        return self.compare(pairs)
