"""Recurrent layers over padded sentences: the GRU of the 2016 code, and Long Short-Term Memory.

Not torch.nn.GRU and LSTM, which cannot run a fusion of models with weights of their own.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear, affine

# Added to an LSTM's forget gate, as TensorFlow does, so that a fresh cell keeps what it has read
# (Gers et al. 2000; Jozefowicz et al. 2015). It is a constant beside the trained bias, which
# starts at 0 like all others: whoever initialises a model need not know of it.
FORGET_BIAS = 1.0


class GRUCell(nn.Module):
    """One step of Cho et al. 2014 in TensorFlow's form, with one bias per gate.

    r, u = sigmoid(W [x; s] + b);  c = tanh(W_c x + U_c (r * s) + b_c);  s' = u * s + (1 - u) * c

    torch.nn.GRUCell has two biases and applies the reset gate after U_c. The biases of r and u
    start at 1, as TensorFlow's do, so that the state persists at first.
    """

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.gates = Linear(inputs + state, 2 * state)
        self.gates.start_bias = 1.0
        self.candidate = Linear(inputs + state, state)

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Map inputs [batch, inputs] and state [batch, state] to the new state."""
        gates = torch.sigmoid(self.gates(torch.cat([inputs, state], dim=-1)))
        reset, update = gates.chunk(2, dim=-1)
        candidate = torch.tanh(self.candidate(torch.cat([inputs, reset * state], dim=-1)))
        return update * state + (1 - update) * candidate

    def read(self, tokens: Tensor, mask: Tensor, *, backward: bool = False) -> Tensor:
        """States [batch, tokens, state] of padded sequences [batch, tokens, inputs], from zeros.

        The inputs' contribution is one product for all tokens. Where the mask is false the state
        passes unchanged, so padding on the right changes no real token in either direction.
        """
        size = self.candidate.out_features
        sizes = [tokens.shape[-1], size]
        gates_input, gates_state = self.gates.weight.split(sizes, dim=-1)
        candidate_input, candidate_state = self.candidate.weight.split(sizes, dim=-1)
        weight = torch.cat([gates_input, candidate_input], dim=-2)
        shares = affine(tokens, weight, torch.cat([self.gates.bias, self.candidate.bias], dim=-1))
        gate_shares, candidate_shares = (
            share.unbind(-2) for share in shares.split([2 * size, size], dim=-1)
        )
        state = tokens.new_zeros(*tokens.shape[:-2], size)
        states = [state] * tokens.shape[-2]
        for n in reversed(range(len(states))) if backward else range(len(states)):
            gates = torch.sigmoid(affine(state, gates_state, None) + gate_shares[n])
            reset, update = gates.chunk(2, dim=-1)
            candidate = torch.tanh(
                affine(reset * state, candidate_state, None) + candidate_shares[n]
            )
            new = update * state + (1 - update) * candidate
            states[n] = state = torch.where(mask[..., n, None], new, state)
        return torch.stack(states, dim=-2)


class GRUEncoder(nn.Module):
    """Map each word to the state of a GRU that has read up to it (Sordoni et al. 2016; thesis 5.1).

    The 2016 code read sentences padded on the left without a mask; here states start from zeros.
    bidirectional: append the states of a second GRU that reads from the end (Sordoni et al.).
    """

    def __init__(self, inputs: int, size: int, *, bidirectional: bool) -> None:
        super().__init__()
        self.forwards = GRUCell(inputs, size)
        self.backwards = GRUCell(inputs, size) if bidirectional else None

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Map words [batch, tokens, inputs] to states [batch, tokens, size per direction]."""
        states = self.forwards.read(words, mask)
        if self.backwards is None:
            return states
        return torch.cat([states, self.backwards.read(words, mask, backward=True)], dim=-1)


class LSTMState(NamedTuple):
    """What an LSTM carries from token to token: hidden and cell, each [batch, state]."""

    hidden: Tensor
    cell: Tensor


class LSTM(nn.Module):
    """Long Short-Term Memory that reads sentences padded on the right.

    Hochreiter & Schmidhuber 1997; Gers et al. 2000:

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
        """A state to read inputs [batch, tokens, inputs] from."""
        zeros = inputs.new_zeros(*inputs.shape[:-2], self.state)
        return LSTMState(zeros, zeros)

    def input_map(self) -> tuple[Tensor, Tensor]:
        """Weight and bias of what inputs contribute to the three gates and the candidate."""
        return self.input.weight, self.input.bias + self.forget_bias

    def step(self, projected: Tensor, state: LSTMState) -> LSTMState:
        """One step from a state, with the input's contribution [batch, 4 · state]."""
        summed = projected + self.recurrent(state.hidden)
        gates, candidate = summed.split([3 * self.state, self.state], dim=-1)
        write, keep, read = torch.sigmoid(gates).chunk(3, dim=-1)
        cell = keep * state.cell + write * torch.tanh(candidate)
        return LSTMState(read * torch.tanh(cell), cell)

    def forward(self, inputs: Tensor, mask: Tensor, start: LSTMState) -> tuple[Tensor, LSTMState]:
        """Hidden states [batch, tokens, state], the last real one on padding, and the end."""
        states = self.states(inputs, start)
        # The loop went on over the padding; one choice here is cheaper than one at each token.
        end = LSTMState(at_end(states.hidden, mask), at_end(states.cell, mask))
        read = states.hidden[..., 1:, :]
        return torch.where(mask[..., None], read, end.hidden[..., None, :]), end

    def states(self, inputs: Tensor, start: LSTMState) -> LSTMState:
        """The state in front of the first token and behind each [batch, 1 + tokens, state]."""
        states = [start]
        for token in affine(inputs, *self.input_map()).unbind(-2):
            states.append(self.step(token, states[-1]))
        return LSTMState(*(torch.stack(parts, dim=-2) for parts in zip(*states, strict=True)))


def at_end(states: Tensor, mask: Tensor) -> Tensor:
    """The state behind the last real token [batch, state], of those of `LSTM.states`."""
    return rows(states, mask.sum(dim=-1, keepdim=True)).squeeze(-2)


def rows(values: Tensor, places: Tensor) -> Tensor:
    """The rows [batch, chosen, size] of [batch, rows, size] at `places` [batch, chosen]."""
    return values.gather(-2, places[..., None].expand(*places.shape, values.shape[-1]))
