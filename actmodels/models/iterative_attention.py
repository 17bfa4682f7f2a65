"""Alternating attention over GRU states of the words: AIAA and IAA (thesis section 5.1)."""

from functools import partial

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
    """Alternating attention over sentences encoded by GRUs, without alignment.

    With ACT the thesis' AIAA, with fixed steps its IAA (Sordoni et al. 2016). Follows the thesis'
    equations, not its code: bilinear attention and two-layer gates. 1,243,908 trained parameters
    at width 256, encoder 128, state 256, gate 256 (thesis: 1.25M; its code: 2.7M).
    """

    def __init__(
        self, config: IterativeAttentionConfig, halting: HaltingConfig, vectors: Tensor
    ) -> None:
        memory = config.encoder_size * (2 if config.bidirectional else 1)
        step = InferenceStep(memory, config.state_size, config.gate_size, config.dropout)
        super().__init__(halting, step, config.state_size)
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        encoder = partial(
            GRUEncoder, config.width, config.encoder_size, bidirectional=config.bidirectional
        )
        self.encode_premise = encoder()
        self.encode_hypothesis = None if config.shared_encoder else encoder()
        self.memory_dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)

    def encode(self, batch: Batch) -> PairMemory:
        premise = self.encode_premise(self.words(batch.premise), batch.premise_mask)
        encode_hypothesis = self.encode_hypothesis or self.encode_premise
        hypothesis = encode_hypothesis(self.words(batch.hypothesis), batch.hypothesis_mask)
        premise, hypothesis = self.memory_dropout(premise), self.memory_dropout(hypothesis)
        return PairMemory(premise, batch.premise_mask, hypothesis, batch.hypothesis_mask)
