"""Hop Attention (ours): alternating attention whose steps hop from one fact to the next.

Unlike in the paper's Adaptive Attention (eq. 3-5), words, keys, values and states share one vector
space, so that every step can apply what one step has learned.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.configs import HopAttentionConfig
from actmodels.data.pairs import PAD, Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.hop_by_hand import HopSteps
from actmodels.modules.attention import BilinearAttention, masked_softmax
from actmodels.modules.by_hand import trains_by_hand
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import Attended, Gate, GateDropout
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords, table_rows
from actmodels.modules.recurrent import GRUCell
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

    def by_hand(self, memory: HopMemory, _: GateDropout, start: Tensor) -> HopSteps:
        """Return the same step with a hand-written backward pass, for one forward pass."""
        layers = (self.attend_hypothesis.transform, self.gate.hidden, self.gate.output)
        return HopSteps(layers, memory, start)

    def attend(self, recurrent: Tensor, memory: HopMemory) -> Attended:
        """Attend to both sentences; recurrent: [state; h], [batch, 2 · width]."""
        state, _ = recurrent.chunk(2, dim=-1)
        hypothesis, over_hypothesis = self.attend_hypothesis(
            state, memory.hypothesis, memory.hypothesis_mask
        )
        query = state if self.query is None else self.query(torch.cat([state, hypothesis], dim=-1))
        weights = masked_softmax(memory.scores(query), memory.premise_mask)
        return Attended(hypothesis, over_hypothesis, memory.mean(weights), weights)

    def forward(
        self, recurrent: Tensor, memory: HopMemory | HopSteps, dropout: GateDropout
    ) -> Tensor:
        """Map a recurrent state [batch, 2 · width] to the next one."""
        if isinstance(memory, HopSteps):
            return memory.step(recurrent)
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


class HopAttention(AlternatingAttention):
    """Retrieve a fact of the premise by its key, and continue from its value."""

    by_hand = True  # train with the hand-written backward pass, for first derivatives only

    def __init__(
        self, config: HopAttentionConfig, halting: HaltingConfig, vectors: Tensor, classes: int
    ) -> None:
        width, reverted = config.width, config.reverted
        step = HopStep(width, config.gate_size, reverted)
        classifier = StateClassifier if reverted == "classifier" else Comparison
        super().__init__(halting, step, width, classes, classifier(width, classes))
        # HopSteps implement the whole model only
        self.has_other_step = reverted in ("query", "identity", "update")
        self.halting.reads_first_units = True  # not the attended hypothesis
        self.words = ProjectedWords(vectors, width, tanh=True)
        self.keys = Window(width)
        self.values = self.keys if reverted == "windows" else Window(width)
        self.memory_dropout = Dropout(config.dropout)
        initialize(self, config.init, config.init_std)
        if step.query is not None and reverted == "identity":
            nn.init.eye_(step.query.weight)

    @property
    def requires_unroll(self) -> bool:  # type: ignore[override]
        derives = torch.is_grad_enabled() and not trains_by_hand(self)
        return self.has_other_step or derives or self.keys.weight.dim() == 3

    def encode(self, batch: Batch) -> HopMemory:
        """Project the distinct words of a batch, padding first, and index them by token."""
        sentences = torch.cat([batch.premise, batch.hypothesis], dim=-1)
        first = sentences.new_full((*sentences.shape[:-1], 1), PAD)
        table, rows, words = self.words.distinct(torch.cat([first, sentences], dim=-1))
        table = self.memory_dropout(table * (words != PAD)[:, None], words)
        sizes = [batch.premise.shape[-1], batch.hypothesis.shape[-1]]
        premise, hypothesis = rows[..., 1:].split(sizes, dim=-1)
        slots = [
            table.shape[-2] * back + nn.functional.pad(premise, (back, 0))[..., : sizes[0]]
            for back in range(WINDOW)
        ]
        return HopMemory(
            self.keys(table),
            self.values(table),
            torch.cat(slots, dim=-1),
            batch.premise_mask,
            table_rows(table, hypothesis),
            batch.hypothesis_mask,
        )
