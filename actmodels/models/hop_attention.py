"""Hop Attention (ours): alternating attention whose steps hop from one fact to the next.

Unlike in the paper's Adaptive Attention (eq. 3-5), words, keys, values and states share one vector
space, so that every step can apply what one step has learned.
"""

from typing import Any

import torch
from torch import Tensor, nn

from actmodels.by_hand.hop import HopByHand
from actmodels.by_hand.parts import applies
from actmodels.configs import HopAttentionConfig
from actmodels.data.pairs import PAD, Batch
from actmodels.halting.loop import DerivedStep
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.attention import (
    WINDOW,
    BilinearAttention,
    HopMemory,
    HopTables,
    masked_softmax,
)
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import Attended, Gate, GateDropout
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords, table_rows
from actmodels.modules.recurrent import GRUCell
from actmodels.registry import HaltingConfig


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

    def __init__(self, width: int, gate: int, reverted: str = "none") -> None:
        super().__init__()
        self.attend_hypothesis = HypothesisAttention(width, width)
        self.gate = Gate(4 * width, gate, width)
        self.starts_at_zero = reverted == "start"
        bilinear, recurrent = reverted in ("query", "identity"), reverted == "update"
        self.query = Linear(2 * width, width) if bilinear else None
        self.cell = GRUCell(2 * width, width) if recurrent else None
        self.gate_hypothesis = Gate(4 * width, gate, width) if recurrent else None

    def start(self, memory: HopMemory) -> tuple[Tensor, GateDropout]:
        """Return the initial [state; h], the attended hypothesis twice, and no dropout."""
        zeros = memory.hypothesis.new_zeros(memory.hypothesis[..., 0, :].shape)
        start, _ = self.attend_hypothesis(zeros, memory.hypothesis, memory.hypothesis_mask)
        one = zeros.new_ones(())
        state = zeros if self.starts_at_zero else start
        return torch.cat([state, start], dim=-1), GateDropout(one, one)

    def attend(self, recurrent: Tensor, memory: HopMemory) -> Attended:
        """Attend to both sentences; recurrent: [state; h], [batch, 2 · width]."""
        state, _ = recurrent.chunk(2, dim=-1)
        hypothesis, over_hypothesis = self.attend_hypothesis(
            state, memory.hypothesis, memory.hypothesis_mask
        )
        query = state if self.query is None else self.query(torch.cat([state, hypothesis], dim=-1))
        weights = masked_softmax(memory.scores(query), memory.premise_mask)
        return Attended(hypothesis, over_hypothesis, memory.mean(weights), weights)

    def forward(self, recurrent: Tensor, memory: HopMemory, dropout: GateDropout) -> Tensor:
        """Map a recurrent state [batch, 2 · width] to the next one."""
        state, _ = recurrent.chunk(2, dim=-1)
        hypothesis, _, premise, _ = self.attend(recurrent, memory)
        inputs = torch.cat([state, hypothesis, premise, premise * hypothesis], dim=-1)
        gate = self.gate(inputs, dropout.hidden)
        if self.cell is None or self.gate_hypothesis is None:
            following = torch.lerp(state, premise, gate)
        else:
            other = self.gate_hypothesis(inputs, dropout.hidden)
            following = self.cell(torch.cat([gate * premise, other * hypothesis], dim=-1), state)
        return torch.cat([following, hypothesis], dim=-1)


class Comparison(nn.Module):
    """Classify [state; h] from [state; h; state ∘ h] with one hidden layer."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.hidden = Linear(3 * width, width)
        self.output = Linear(width, classes)

    def forward(self, recurrent: Tensor) -> Tensor:
        """Map [..., 2 · width] to logits [..., labels]."""
        state, hypothesis = recurrent.chunk(2, dim=-1)
        compared = torch.cat([recurrent, state * hypothesis], dim=-1)
        return self.output(torch.relu(self.hidden(compared)))


class StateClassifier(Linear):
    """Classify [state; h] from the state alone (paper eq. 9)."""

    def forward(self, recurrent: Tensor) -> Tensor:
        """Map [..., 2 · width] to logits [..., labels]."""
        return super().forward(recurrent.chunk(2, dim=-1)[0])


TYPES = (HopStep, HypothesisAttention, Gate, Linear)  # types of the modules of a step


class HopAttention(AlternatingAttention):
    """Retrieve a fact of the premise by its key, and continue from its value."""

    def __init__(
        self, config: HopAttentionConfig, halting: HaltingConfig, vectors: Tensor, classes: int
    ) -> None:
        width, reverted = config.width, config.reverted
        step = HopStep(width, config.gate_size, reverted)
        classifier = StateClassifier if reverted == "classifier" else Comparison
        super().__init__(halting, step, width, classes, classifier(width, classes))
        self.halting.reads_first_units = True  # not the attended hypothesis
        self.words = ProjectedWords(vectors, width, tanh=True)
        self.keys = Window(width)
        self.values = self.keys if reverted == "windows" else Window(width)
        self.log_scale = config.log_scale
        self.memory_dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)
        if step.query is not None and reverted == "identity":
            nn.init.eye_(step.query.weight)

    @property
    def drops_halted(self) -> bool:  # type: ignore[override]
        return self.keys.weight.dim() == 2  # each trial of a fusion has its own tables

    def derived_step(self, start: Tensor, memory: Any, dropout: GateDropout) -> DerivedStep | None:
        changed = self.step.query is not None or self.step.cell is not None
        if changed or not applies(self, [self.step], TYPES, start):
            return None
        layers = (self.step.attend_hypothesis.transform, self.step.gate.hidden)
        return HopByHand((*layers, self.step.gate.output), memory, start)

    def encode(self, batch: Batch) -> HopMemory:
        """Project the distinct words of a batch, padding first, and index them by token."""
        sentences = torch.cat([batch.premise, batch.hypothesis], dim=-1)
        first = sentences.new_full((*sentences.shape[:-1], 1), PAD)
        table, rows, ids = self.words.distinct(torch.cat([first, sentences], dim=-1))
        table = self.memory_dropout(table * (ids != PAD)[:, None], ids)
        sizes = [batch.premise.shape[-1], batch.hypothesis.shape[-1]]
        premise, hypothesis = rows[..., 1:].split(sizes, dim=-1)
        slots = [
            table.shape[-2] * back + nn.functional.pad(premise, (back, 0))[..., : sizes[0]]
            for back in range(WINDOW)
        ]
        scale = None
        if self.log_scale:
            words = batch.premise_mask.sum(dim=-1, keepdim=True).to(table.dtype)
            scale = self.log_scale * words.log()
        return HopMemory(
            HopTables(self.keys(table), self.values(table)),
            torch.cat(slots, dim=-1),
            batch.premise_mask,
            table_rows(table, hypothesis),
            batch.hypothesis_mask,
            scale,
        )
