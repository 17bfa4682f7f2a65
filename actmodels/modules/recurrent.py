"""GRU and LSTM over padded sentences.

torch.nn.GRU and torch.nn.LSTM cannot run fused models, each with its own weights.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear, affine

# Added to an LSTM's forget gate, as in TensorFlow, so that an untrained cell keeps its content
# (Gers et al. 2000; Jozefowicz et al. 2015). A constant in addition to the trained bias, which is
# initialized to 0 like any other.
FORGET_BIAS = 1.0


class GRUCell(nn.Module):
    """Gated recurrent unit of Cho et al. 2014 in TensorFlow's form, with one bias per gate.

    r, u = sigmoid(W [x; s] + b);  c = tanh(W_c x + U_c (r * s) + b_c);  s' = u * s + (1 - u) * c

    torch.nn.GRUCell has two biases and applies the reset gate after U_c. As in TensorFlow, the
    biases of r and u are initialized to 1, so that an untrained unit keeps its state.
    """

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.gates = Linear(inputs + state, 2 * state)
        self.gates.start_bias = 1.0
        self.candidate = Linear(inputs + state, state)

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Map inputs [batch, inputs] and state [batch, state] to the next state."""
        gates = torch.sigmoid(self.gates(torch.cat([inputs, state], dim=-1)))
        reset, update = gates.chunk(2, dim=-1)
        candidate = torch.tanh(self.candidate(torch.cat([inputs, reset * state], dim=-1)))
        return update * state + (1 - update) * candidate

    def read(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Return the states [batch, tokens, state] of sequences padded on the right.

        The initial state is zero, and padding leaves the state unchanged; the 2016 code read left
        padding without a mask. The inputs' contribution is one matrix product for all tokens.

        Args:
            tokens: [batch, tokens, inputs].
            mask: [batch, tokens].
        """
        size = self.candidate.out_features
        sizes = [tokens.shape[-1], size]
        gates_input, gates_state = self.gates.weight.split(sizes, dim=-1)
        candidate_input, candidate_state = self.candidate.weight.split(sizes, dim=-1)
        weight = torch.cat([gates_input, candidate_input], dim=-2)
        bias = torch.cat([self.gates.bias, self.candidate.bias], dim=-1)
        projected = affine(tokens, weight, bias).split([2 * size, size], dim=-1)
        for_gates, for_candidate = (part.unbind(-2) for part in projected)
        state = tokens.new_zeros(*tokens.shape[:-2], size)
        states = []
        for n in range(tokens.shape[-2]):
            gates = torch.sigmoid(affine(state, gates_state, None) + for_gates[n])
            reset, update = gates.chunk(2, dim=-1)
            candidate = torch.tanh(affine(reset * state, candidate_state, None) + for_candidate[n])
            new = update * state + (1 - update) * candidate
            state = torch.where(mask[..., n, None], new, state)
            states.append(state)
        return torch.stack(states, dim=-2)


class LSTMState(NamedTuple):
    """Hidden state and cell of an LSTM, each [batch, state]."""

    hidden: Tensor
    cell: Tensor


class LSTM(nn.Module):
    """LSTM over sentences padded on the right (Hochreiter & Schmidhuber 1997; Gers et al. 2000).

    i, f, o = sigmoid(W x + U h + b + [0, 1, 0]);  g = tanh(W_g x + U_g h + b_g)
    c' = f * c + i * g;  h' = o * tanh(c')

    No peepholes, one bias per gate: 4 · state · (inputs + state + 1) parameters.
    """

    forget_bias: Tensor

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.state = state
        self.input = Linear(inputs, 4 * state)
        self.recurrent = Linear(state, 4 * state, bias=False)
        forget_bias = torch.zeros(4, state)
        forget_bias[1] = FORGET_BIAS
        self.register_buffer("forget_bias", forget_bias.flatten(), persistent=False)

    def zeros(self, inputs: Tensor) -> LSTMState:
        """Return the initial state for inputs [batch, tokens, inputs]."""
        zeros = inputs.new_zeros(*inputs.shape[:-2], self.state)
        return LSTMState(zeros, zeros)

    def input_map(self) -> tuple[Tensor, Tensor]:
        """Return weight and bias of the input projection to three gates and candidate."""
        return self.input.weight, self.input.bias + self.forget_bias

    def step(self, projected: Tensor, state: LSTMState) -> LSTMState:
        """Return the next state; projected: the projected input [batch, 4 · state]."""
        summed = projected + self.recurrent(state.hidden)
        gates, candidate = summed.split([3 * self.state, self.state], dim=-1)
        write, keep, read = torch.sigmoid(gates).chunk(3, dim=-1)
        cell = keep * state.cell + write * torch.tanh(candidate)
        return LSTMState(read * torch.tanh(cell), cell)

    def forward(self, inputs: Tensor, mask: Tensor, start: LSTMState) -> tuple[Tensor, LSTMState]:
        """Return hidden states [batch, tokens, state] and the final state.

        At padding the hidden state is that of the last token.
        """
        states = self.states(inputs, start)
        # `states` reads the padding as well: one selection here is cheaper than one per token.
        end = LSTMState(at_end(states.hidden, mask), at_end(states.cell, mask))
        read = states.hidden[..., 1:, :]
        return torch.where(mask[..., None], read, end.hidden[..., None, :]), end

    def states(self, inputs: Tensor, start: LSTMState) -> LSTMState:
        """Return the initial state and that after each token [batch, 1 + tokens, state]."""
        states = [start]
        for token in affine(inputs, *self.input_map()).unbind(-2):
            states.append(self.step(token, states[-1]))
        return LSTMState(*(torch.stack(parts, dim=-2) for parts in zip(*states, strict=True)))


def at_end(states: Tensor, mask: Tensor) -> Tensor:
    """Return the state after the last token [batch, state] from those of `LSTM.states`."""
    return rows(states, mask.sum(dim=-1, keepdim=True)).squeeze(-2)


def rows(values: Tensor, indices: Tensor) -> Tensor:
    """Gather rows [batch, n, size] of [batch, rows, size] at `indices` [batch, n]."""
    return values.gather(-2, indices[..., None].expand(*indices.shape, values.shape[-1]))
