"""Alternating attention over words that a GRU has read: AIAA and IAA (thesis section 5.1)."""

from torch import Tensor

from actmodels.configs import IterativeAttentionConfig
from actmodels.data.pairs import Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import InferenceStep, PairMemory
from actmodels.modules.linear import initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.recurrent import GRUEncoder
from actmodels.registry import HaltingConfig


class IterativeAttention(AlternatingAttention):
    """Remember each word as a GRU has read it, in its own sentence alone (thesis section 5.1).

    With ACT the thesis' AIAA, with fixed steps its IAA (Sordoni et al. 2016). By the thesis'
    equations, not its code: bilinear attention and two-layer gates; 1,243,908 trained parameters at
    width 256, encoder 128, state 256, gate 256 (the thesis: 1.25 M; its code: 2.7 M).
    """

    def __init__(
        self, config: IterativeAttentionConfig, halting: HaltingConfig, vectors: Tensor
    ) -> None:
        memory = config.encoder_size * (2 if config.bidirectional else 1)
        step = InferenceStep(memory, config.state_size, config.gate_size, config.dropout)
        super().__init__(halting, step, config.state_size)
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        sizes, both = (config.width, config.encoder_size), config.bidirectional
        self.encode_premise = GRUEncoder(*sizes, bidirectional=both)
        shared = config.shared_encoder
        self.encode_hypothesis = None if shared else GRUEncoder(*sizes, bidirectional=both)
        self.memory_dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)

    def memories(self, batch: Batch) -> PairMemory:
        premise = self.encode_premise(self.words(batch.premise), batch.premise_mask)
        encode_hypothesis = self.encode_hypothesis or self.encode_premise
        hypothesis = encode_hypothesis(self.words(batch.hypothesis), batch.hypothesis_mask)
        premise, hypothesis = self.memory_dropout(premise), self.memory_dropout(hypothesis)
        return PairMemory(premise, batch.premise_mask, hypothesis, batch.hypothesis_mask)
