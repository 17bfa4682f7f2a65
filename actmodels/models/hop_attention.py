"""Hop Attention (ours): alternating attention whose steps hop from one fact to the next.

Unlike in the paper's Adaptive Attention (eq. 3-5), words, keys, values and states share one vector
space, so that every step can apply what one step has learned.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.configs import LABELS, HopAttentionConfig
from actmodels.data.pairs import PAD, Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.attention import BilinearAttention, masked_softmax
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import Attended, Gate, GateDropout
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords, table_rows
from actmodels.registry import HaltingConfig

WINDOW = 3  # words: a fact like "jar in bag" links its first word to its last


class HopMemory(NamedTuple):
    """Key-value memory of the premise, and the words of the hypothesis.

    Keys and values are sums over a window of words. A batch has few distinct words, so both are
    tables over distinct words, in which a step looks up the terms of each token.
    """

    keys: Tensor  # a row per distinct word and window position [3 · words, width]
    values: Tensor  # a row per distinct word and window position [3 · words, width]
    slots: Tensor  # rows of the premise's tokens, for each window position [batch, 3 · tokens]
    premise_mask: Tensor  # [batch, tokens]
    hypothesis: Tensor  # [batch, tokens, width]
    hypothesis_mask: Tensor  # [batch, tokens]

    def scores(self, query: Tensor) -> Tensor:
        """Return key_t · query of each premise token [batch, tokens]."""
        terms = (query @ self.keys.mT).gather(-1, self.slots)
        return torch.stack(terms.chunk(WINDOW, dim=-1)).sum(dim=0)

    def mean(self, weights: Tensor) -> Tensor:
        """Return sum_t weight_t value_t [batch, width] for weights [batch, tokens]."""
        repeated = torch.cat([weights] * WINDOW, dim=-1)
        rows = weights.new_zeros(*weights.shape[:-1], self.values.shape[-2])
        return rows.scatter_add(-1, self.slots, repeated) @ self.values


class Window(nn.Module):
    """Depthwise convolution over a word and the two words before it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(1 / WINDOW + 0.1 * torch.randn(WINDOW, width))

    def forward(self, words: Tensor) -> Tensor:
        """Map words [words, width] to their terms by window position [3 · words, width]."""
        return (self.weight[..., None, :] * words[..., None, :, :]).flatten(-3, -2)


class HypothesisAttention(BilinearAttention):
    """Bilinear attention by elementwise products, faster for the few words of a hypothesis."""

    def forward(self, query: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        scores = (self.transform(query)[..., None, :] * memory).sum(dim=-1)
        weights = masked_softmax(scores, mask)
        return (weights[..., None] * memory).sum(dim=-2), weights


class HopStep(nn.Module):
    """Attend to the hypothesis and to the premise, and move the state towards the attended value.

    h = attend(state; hypothesis);  p = sum_i softmax_i(key_i · state) value_i
    g = gate(state, h, p, p ∘ h);  state' = (1 - g) ∘ state + g ∘ p

    The recurrent state is [state; h] of size 2 · width, because the classifier compares both.
    """

    def __init__(self, width: int, gate: int) -> None:
        super().__init__()
        self.attend_hypothesis = HypothesisAttention(width, width)
        self.gate = Gate(4 * width, gate, width)

    def start(self, memory: HopMemory) -> tuple[Tensor, GateDropout]:
        """Return the initial state, the attended hypothesis twice, and no dropout."""
        zeros = memory.hypothesis.new_zeros(memory.hypothesis[..., 0, :].shape)
        start, _ = self.attend_hypothesis(zeros, memory.hypothesis, memory.hypothesis_mask)
        one = zeros.new_ones(())
        return torch.cat([start, start], dim=-1), GateDropout(one, one)

    def attend(self, recurrent: Tensor, memory: HopMemory) -> Attended:
        """Attend to both sentences; recurrent: [state; h], [batch, 2 · width]."""
        state, _ = recurrent.chunk(2, dim=-1)
        hypothesis, over_hypothesis = self.attend_hypothesis(
            state, memory.hypothesis, memory.hypothesis_mask
        )
        weights = masked_softmax(memory.scores(state), memory.premise_mask)
        return Attended(hypothesis, over_hypothesis, memory.mean(weights), weights)

    def forward(self, recurrent: Tensor, memory: HopMemory, dropout: GateDropout) -> Tensor:
        """Map a recurrent state [batch, 2 · width] to the next one."""
        state, _ = recurrent.chunk(2, dim=-1)
        hypothesis, _, premise, _ = self.attend(recurrent, memory)
        inputs = torch.cat([state, hypothesis, premise, premise * hypothesis], dim=-1)
        following = torch.lerp(state, premise, self.gate(inputs, dropout.hidden))
        return torch.cat([following, hypothesis], dim=-1)


class Comparison(nn.Module):
    """Classify [state; h] from [state; h; state ∘ h] with one hidden layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden = Linear(3 * width, width)
        self.output = Linear(width, len(LABELS))

    def forward(self, recurrent: Tensor) -> Tensor:
        """Map [..., 2 · width] to logits [..., labels]."""
        state, hypothesis = recurrent.chunk(2, dim=-1)
        compared = torch.cat([recurrent, state * hypothesis], dim=-1)
        return self.output(torch.relu(self.hidden(compared)))


class HopAttention(AlternatingAttention):
    """Retrieve a fact of the premise by its key, and continue from its value."""

    requires_unroll = True  # FusedInference implements InferenceStep only

    def __init__(self, config: HopAttentionConfig, halting: HaltingConfig, vectors: Tensor) -> None:
        step = HopStep(config.width, config.gate_size)
        super().__init__(halting, step, config.width, Comparison(config.width))
        self.halting.reads_first_units = True  # not the attended hypothesis
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.keys, self.values = Window(config.width), Window(config.width)
        self.memory_dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)

    def encode(self, batch: Batch) -> HopMemory:
        """Project the distinct words of a batch, padding first, and index them by token."""
        sentences = torch.cat([batch.premise.flatten(), batch.hypothesis.flatten()])
        distinct, rows = torch.cat([sentences.new_full((1,), PAD), sentences]).unique(
            return_inverse=True
        )
        fused = batch.premise.dim() == 3
        ids = distinct.expand(len(batch.premise), -1) if fused else distinct
        table = self.memory_dropout(self.words(ids) * (distinct != PAD)[:, None])
        premise, hypothesis = rows[1:].split([batch.premise.numel(), batch.hypothesis.numel()])
        premise = premise.view(batch.premise.shape)
        slots = [
            len(distinct) * back + nn.functional.pad(premise, (back, 0))[..., : premise.shape[-1]]
            for back in range(WINDOW)
        ]
        return HopMemory(
            self.keys(table),
            self.values(table),
            torch.cat(slots, dim=-1),
            batch.premise_mask,
            table_rows(table, hypothesis.view(batch.hypothesis.shape)),
            batch.hypothesis_mask,
        )
