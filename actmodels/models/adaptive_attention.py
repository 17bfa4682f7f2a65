"""Adaptive Attention: alternating attention over aligned words (paper section 3; thesis: ADA)."""

import torch
from torch import Tensor

from actmodels.configs import AdaptiveAttentionConfig
from actmodels.data.pairs import Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.attention import FeedForward, SoftAlignment, aligned_words
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import InferenceStep, PairMemory
from actmodels.modules.linear import initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.registry import HaltingConfig


class AdaptiveAttention(AlternatingAttention):
    """Alternating attention over words with their alignments, [p; beta] and [h; alpha].

    Follows the paper's equations, not the 2016 code: bilinear attention, two-layer gates, memory
    size 2 · width. 982,716 trained parameters at width 128, state 200, gate 128 (paper: 990k).
    """

    def __init__(
        self, config: AdaptiveAttentionConfig, halting: HaltingConfig, vectors: Tensor, classes: int
    ) -> None:
        sizes = (2 * config.width, config.state_size, config.gate_size)
        step = InferenceStep(*sizes, config.dropout)
        super().__init__(halting, step, config.state_size, classes)
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.alignment = SoftAlignment(config.width, config.width, config.dropout)
        self.memory_dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)

    def encode(self, batch: Batch) -> PairMemory:
        """Project and align the words; memory size 2 · width."""
        premise, hypothesis, beta, alpha = aligned_words(self.words, self.alignment, batch)
        premise = self.memory_dropout(self.build_memory(torch.cat([beta, premise], dim=-1)))
        hypothesis = self.memory_dropout(self.build_memory(torch.cat([alpha, hypothesis], dim=-1)))
        return PairMemory(premise, batch.premise_mask, hypothesis, batch.hypothesis_mask)

    def build_memory(self, pairs: Tensor) -> Tensor:
        """Map aligned words [batch, tokens, 2 · width] to the memory; by default unchanged."""
        return pairs


class CompareAdaptiveAttention(AdaptiveAttention):
    """Compare-first Adaptive Attention (ours): the memory is G([word; alignment]), G 2d-2d-2d."""

    def __init__(
        self, config: AdaptiveAttentionConfig, halting: HaltingConfig, vectors: Tensor, classes: int
    ) -> None:
        super().__init__(config, halting, vectors, classes)
        self.compare = FeedForward(2 * config.width, 2 * config.width, config.dropout)
        initialize(self.compare, config.init, config.init_std)

    def build_memory(self, pairs: Tensor) -> Tensor:
        return self.compare(pairs)
