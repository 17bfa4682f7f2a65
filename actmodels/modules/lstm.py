"""A recurrent layer of Long Short-Term Memory (Hochreiter & Schmidhuber 1997; Gers et al. 2000).

Not torch.nn.LSTM, which cannot run a pack of models with weights of their own.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear, affine

# Added to the forget gate, as TensorFlow does, so that a fresh cell keeps what it has read
# (Gers et al. 2000; Jozefowicz et al. 2015). It is a constant beside the trained bias, which
# starts at 0 like all others: whoever initialises a model need not know of it.
FORGET_BIAS = 1.0


class LSTMState(NamedTuple):
    """What an LSTM carries from token to token: hidden and cell, each [batch, state]."""

    hidden: Tensor
    cell: Tensor


class LSTM(nn.Module):
    """Read sentences that are padded on the right.

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

    def zeros(self, inputs: Tensor) -> Tensor:
        """A hidden state or a cell to start from [batch, state]."""
        return inputs.new_zeros(*inputs.shape[:-2], self.state)

    def project(self, inputs: Tensor) -> Tensor:
        """What inputs [..., inputs] contribute to the gates and the candidate [..., 4 · state]."""
        return affine(inputs, self.input.weight, self.input.bias + self.forget_bias)

    def step(self, projected: Tensor, state: LSTMState) -> LSTMState:
        """One step from a state, with the input's contribution [batch, 4 · state]."""
        summed = projected + self.recurrent(state.hidden)
        gates, candidate = summed.split([3 * self.state, self.state], dim=-1)
        write, keep, read = torch.sigmoid(gates).chunk(3, dim=-1)
        cell = keep * state.cell + write * torch.tanh(candidate)
        return LSTMState(read * torch.tanh(cell), cell)

    def forward(self, inputs: Tensor, mask: Tensor, start: LSTMState) -> tuple[Tensor, LSTMState]:
        """Read whole sentences.

        Args:
            inputs: words [batch, tokens, inputs].
            mask: true for real tokens [batch, tokens]; they come first in every sentence.
            start: the state in front of the first token.

        Returns:
            the hidden state behind each token [batch, tokens, state] and the state at the end;
            where the mask is false, the state is that of the last real token.
        """
        state = start
        hiddens, cells = [state.hidden], [state.cell]
        for token in self.project(inputs).unbind(-2):
            state = self.step(token, state)
            hiddens.append(state.hidden)
            cells.append(state.cell)
        # The loop went on over the padding; one choice here is cheaper than one at each token.
        every_hidden = torch.stack(hiddens, dim=-2)
        end = LSTMState(
            at_end(every_hidden, mask),
            at_end(torch.stack(cells, dim=-2), mask),
        )
        outputs = torch.where(mask[..., None], every_hidden[..., 1:, :], end.hidden[..., None, :])
        return outputs, end


def at_end(states: Tensor, mask: Tensor) -> Tensor:
    """The state behind the last real token [batch, state].

    Args:
        states: the one in front of the first token, then one per token [batch, 1 + tokens, state].
        mask: true for real tokens [batch, tokens]; they come first.
    """
    place = mask.sum(dim=-1)[..., None, None].expand(*mask.shape[:-1], 1, states.shape[-1])
    return states.gather(-2, place).squeeze(-2)
