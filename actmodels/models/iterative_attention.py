"""Alternating attention over GRU states of the words: AIAA and IAA (thesis section 5.1)."""

from torch import Tensor

from actmodels.configs import IterativeAttentionConfig
from actmodels.data.pairs import Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import InferenceStep, PairMemory
from actmodels.modules.linear import initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.recurrent import GRUCell
from actmodels.registry import HaltingConfig


class IterativeAttention(AlternatingAttention):
    """Alternating attention over sentences encoded by GRUs, without alignment.

    With ACT the thesis' AIAA, with fixed steps its IAA (Sordoni et al. 2016). Follows the thesis'
    equations, not its code: bilinear attention and two-layer gates. 1,243,908 trained parameters
    at width 256, encoder 128, state 256, gate 256 (thesis: 1.25M; its code: 2.7M).
    """

    def __init__(
        self,
        config: IterativeAttentionConfig,
        halting: HaltingConfig,
        vectors: Tensor,
        classes: int,
    ) -> None:
        memory, state, gate = config.encoder_size, config.state_size, config.gate_size
        step = InferenceStep(memory, state, gate, config.dropout)
        super().__init__(halting, step, state, classes)
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.encode_premise = GRUCell(config.width, memory)
        self.encode_hypothesis = None if config.shared_encoder else GRUCell(config.width, memory)
        self.memory_dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)

    def encode(self, batch: Batch) -> PairMemory:
        premise = self.encode_premise.read(self.words(batch.premise), batch.premise_mask)
        encode_hypothesis = self.encode_hypothesis or self.encode_premise
        hypothesis = encode_hypothesis.read(self.words(batch.hypothesis), batch.hypothesis_mask)
        premise, hypothesis = self.memory_dropout(premise), self.memory_dropout(hypothesis)
        return PairMemory(premise, batch.premise_mask, hypothesis, batch.hypothesis_mask)
