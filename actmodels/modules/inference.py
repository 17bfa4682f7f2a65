"""One step of iterative alternating attention (paper eq. 3-5; Sordoni et al. 2016)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.modules.attention import BilinearAttention
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear
from actmodels.modules.recurrent import GRUCell


class PairMemory(NamedTuple):
    """Memory of the inference steps: words [batch, tokens, memory] and masks [batch, tokens]."""

    premise: Tensor
    premise_mask: Tensor
    hypothesis: Tensor
    hypothesis_mask: Tensor


class Attended(NamedTuple):
    """Attention of one step: attended words [batch, memory] and weights [batch, tokens]."""

    hypothesis: Tensor
    hypothesis_weights: Tensor
    premise: Tensor
    premise_weights: Tensor


class GateDropout(NamedTuple):
    """Dropout masks of the gates, drawn once per example; a scalar 1 without dropout."""

    inputs: Tensor  # [batch, inputs]
    hidden: Tensor  # of both hidden layers, premise first [batch, 2 · gate]


class Gate(nn.Module):
    """Two-layer gate s + 3m -> gate_size -> m with a sigmoid output (paper eq. 5)."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.hidden = Linear(inputs, hidden)
        self.output = Linear(hidden, outputs)

    def forward(self, inputs: Tensor, hidden_dropout: Tensor) -> Tensor:
        """Map [batch, s + 3m] to gates [batch, m] in (0, 1)."""
        hidden = torch.relu(self.hidden(inputs)) * hidden_dropout
        return torch.sigmoid(self.output(hidden))


class InferenceStep(nn.Module):
    """Attend to the hypothesis, then to the premise, gate both, and update the state.

    q = attend_h(s; hypothesis);  d = attend_p([s; q]; premise);  z = [s; q; d; d ∘ q]
    s' = GRU([gate_p(z) ∘ d; gate_h(z) ∘ q], s)
    """

    def __init__(self, memory: int, state: int, gate: int, dropout: float) -> None:
        super().__init__()
        self.sizes = (state + 3 * memory, gate, state)
        self.dropout = Dropout(dropout)
        self.attend_hypothesis = BilinearAttention(state, memory)
        self.attend_premise = BilinearAttention(state + memory, memory)
        self.premise_gate = Gate(state + 3 * memory, gate, memory)
        self.hypothesis_gate = Gate(state + 3 * memory, gate, memory)
        self.cell = GRUCell(2 * memory, state)

    def start(self, memory: PairMemory) -> tuple[Tensor, GateDropout]:
        """Return the initial state, zeros [batch, state], and the dropout masks of all steps."""
        batch = memory.premise_mask.shape[:-1]
        inputs, gate, state = self.sizes
        weight = self.cell.candidate.weight
        masks = (self.dropout.mask((*batch, size), weight) for size in (inputs, 2 * gate))
        return weight.new_zeros(*batch, state), GateDropout(*masks)

    def attend(self, state: Tensor, memory: PairMemory) -> Attended:
        """Attend with a state [batch, state] to the hypothesis, then to the premise."""
        hypothesis = self.attend_hypothesis(state, memory.hypothesis, memory.hypothesis_mask)
        query = torch.cat([state, hypothesis[0]], dim=-1)
        return Attended(
            *hypothesis, *self.attend_premise(query, memory.premise, memory.premise_mask)
        )

    def forward(self, state: Tensor, memory: PairMemory, dropout: GateDropout) -> Tensor:
        """Map the state [batch, state] to the next one."""
        masks = dropout.hidden.chunk(2, dim=-1) if dropout.hidden.dim() else [dropout.hidden] * 2
        hypothesis, _, premise, _ = self.attend(state, memory)
        gate_inputs = torch.cat([state, hypothesis, premise, premise * hypothesis], dim=-1)
        gate_inputs = gate_inputs * dropout.inputs
        gated = [
            self.premise_gate(gate_inputs, masks[0]) * premise,
            self.hypothesis_gate(gate_inputs, masks[1]) * hypothesis,
        ]
        return self.cell(torch.cat(gated, dim=-1), state)
