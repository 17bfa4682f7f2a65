"""Hop Attention (ours): alternating attention whose steps follow facts from one to the next.

Five changes to the paper's Adaptive Attention (equations 3 to 5) let a step repeat what the step
before it learned: words, keys, values and states share one space.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.data.labels import LABELS
from actmodels.data.pairs import Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.attention import (
    BilinearAttention,
    dot_scores,
    masked_softmax,
    weighted_mean,
)
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import Attended, Gate, GateDropout
from actmodels.modules.initialisation import initialise
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords
from actmodels.registry import HaltingConfig
from actmodels.settings import HopAttentionConfig

WINDOW = 3  # words: a fact such as "jar in bag" links its first word to its last


class HopMemory(NamedTuple):
    """Words [batch, tokens, width] that the steps attend to, and masks [batch, tokens].

    A premise word is found by its key and read as its value.
    """

    keys: Tensor
    values: Tensor
    premise_mask: Tensor
    hypothesis: Tensor
    hypothesis_mask: Tensor


class Window(nn.Module):
    """Sum each word and the two before it, with a weight for each unit (depthwise convolution)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(1 / WINDOW + 0.1 * torch.randn(WINDOW, width))

    def forward(self, words: Tensor) -> Tensor:
        """Map words [batch, tokens, width] to windows of the same shape."""
        summed = torch.zeros_like(words)
        for back, weight in enumerate(self.weight.unbind(dim=-2)):
            earlier = nn.functional.pad(words, (0, 0, back, 0))[..., : words.shape[-2], :]
            summed = summed + weight[..., None, None, :] * earlier
        return summed


class HopStep(nn.Module):
    """Attend to the hypothesis, then to the premise, and move the state towards what was read.

    h = attend(hypothesis; state); p = sum_i softmax_i(key_i · state) value_i;
    g = gate(state, h, p, p ∘ h); state' = (1 - g) ∘ state + g ∘ p.

    A carried state is [state; h] of size 2 · width, since the classifier compares both.
    """

    def __init__(self, width: int, gate: int) -> None:
        super().__init__()
        self.attend_hypothesis = BilinearAttention(width, width)
        self.gate = Gate(4 * width, gate, width)

    def start(self, memory: HopMemory) -> tuple[Tensor, GateDropout]:
        """Return the first state [batch, 2 · width], the attended hypothesis twice, no dropout."""
        zeros = memory.hypothesis.new_zeros(memory.hypothesis[..., 0, :].shape)
        start, _ = self.attend_hypothesis(zeros, memory.hypothesis, memory.hypothesis_mask)
        one = zeros.new_ones(())
        return torch.cat([start, start], dim=-1), GateDropout(one, one)

    def attend(self, carried: Tensor, memory: HopMemory) -> Attended:
        """Attend with a carried state to both sentences."""
        state, _ = carried.chunk(2, dim=-1)
        hypothesis, over_hypothesis = self.attend_hypothesis(
            state, memory.hypothesis, memory.hypothesis_mask
        )
        weights = masked_softmax(dot_scores(state, memory.keys), memory.premise_mask)
        premise = weighted_mean(memory.values, weights)
        return Attended(hypothesis, over_hypothesis, premise, weights)

    def forward(self, carried: Tensor, memory: HopMemory, dropout: GateDropout) -> Tensor:
        """Map a carried state [batch, 2 · width] to the next one."""
        state, _ = carried.chunk(2, dim=-1)
        hypothesis, _, premise, _ = self.attend(carried, memory)
        inputs = torch.cat([state, hypothesis, premise, premise * hypothesis], dim=-1)
        following = torch.lerp(state, premise, self.gate(inputs, dropout.hidden))
        return torch.cat([following, hypothesis], dim=-1)


class Comparison(nn.Module):
    """Classify [state; h] from [state; h; state ∘ h] with one hidden layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden = Linear(3 * width, width)
        self.output = Linear(width, len(LABELS))

    def forward(self, carried: Tensor) -> Tensor:
        """Map [..., 2 · width] to logits [..., labels]."""
        state, hypothesis = carried.chunk(2, dim=-1)
        compared = torch.cat([carried, state * hypothesis], dim=-1)
        logits: Tensor = self.output(torch.relu(self.hidden(compared)))
        return logits


class HopAttention(AlternatingAttention):
    """Find a fact of the premise by the state, read where it leads, and go on from there.

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.trial_data.
    """

    always_plain = True  # the fused steps are InferenceStep's

    def __init__(self, config: HopAttentionConfig, halting: HaltingConfig, vectors: Tensor) -> None:
        step = HopStep(config.width, config.gate_size)
        super().__init__(halting, step, config.width, Comparison(config.width))
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.keys, self.values = Window(config.width), Window(config.width)
        self.memory_dropout = Dropout(config.dropout)
        initialise(self, config.init, config.init_std)

    def memories(self, batch: Batch) -> HopMemory:
        """Return windows of the premise's words as keys and as values, and the hypothesis."""
        premise, hypothesis = self.words(batch.premise), self.words(batch.hypothesis)
        keys, values, hypothesis = map(
            self.memory_dropout, (self.keys(premise), self.values(premise), hypothesis)
        )
        return HopMemory(keys, values, batch.premise_mask, hypothesis, batch.hypothesis_mask)
