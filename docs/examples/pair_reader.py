"""Pair Reader: a recurrent state that reads both sentences by attention, step by step."""

import torch
from torch import Tensor, nn

from actmodels.configs import PairReaderConfig
from actmodels.data.pairs import Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.attention import BilinearAttention
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import Attended, PairMemory
from actmodels.modules.linear import initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.recurrent import GRUCell
from actmodels.registry import HaltingConfig


class ReaderStep(nn.Module):
    """One step: attend to both sentences with the state, and update it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.hypothesis, self.premise = (BilinearAttention(size, size) for _ in range(2))
        self.cell = GRUCell(2 * size, size)

    def start(self, memory: PairMemory) -> tuple[Tensor, None]:
        """Return the state before the first step [batch, state], and no dropout."""
        return torch.zeros_like(memory.premise[..., 0, :]), None

    def attend(self, state: Tensor, memory: PairMemory) -> Attended:
        """Return the attended words of both sentences, and the weights."""
        hypothesis = self.hypothesis(state, memory.hypothesis, memory.hypothesis_mask)
        return Attended(*hypothesis, *self.premise(state, memory.premise, memory.premise_mask))

    def forward(self, state: Tensor, memory: PairMemory, dropout: None) -> Tensor:
        """Return the next state [batch, state]."""
        attended = self.attend(state, memory)
        return self.cell(torch.cat([attended.premise, attended.hypothesis], dim=-1), state)


class PairReader(AlternatingAttention):
    """The model."""

    def __init__(
        self, config: PairReaderConfig, halting: HaltingConfig, vectors: Tensor, classes: int
    ) -> None:
        super().__init__(halting, ReaderStep(config.width), config.width, classes)
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)

    def encode(self, batch: Batch) -> PairMemory:
        """Return the words of both sentences [batch, tokens, width], with their masks."""
        premise, hypothesis = map(self.words, (batch.premise, batch.hypothesis))
        premise, hypothesis = self.dropout(premise), self.dropout(hypothesis)
        return PairMemory(premise, batch.premise_mask, hypothesis, batch.hypothesis_mask)
