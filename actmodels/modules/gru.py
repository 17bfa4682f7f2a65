"""The GRU cell of Cho et al. 2014 in TensorFlow's form, which the 2016 code used."""

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear, affine


class GRUCell(nn.Module):
    """One recurrent step with one bias per gate.

    r, u = sigmoid(W [x; s] + b);  c = tanh(W_c x + U_c (r * s) + b_c);  s' = u * s + (1 - u) * c

    Not torch.nn.GRUCell: that has two biases and applies the reset gate after U_c. The biases
    of r and u start at 1, as TensorFlow's do, so that the state persists at first.
    """

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.gates = Linear(inputs + state, 2 * state)
        self.candidate = Linear(inputs + state, state)

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Map inputs [batch, inputs] and state [batch, state] to the new state."""
        gates = torch.sigmoid(self.gates(torch.cat([inputs, state], dim=-1)))
        reset, update = gates.chunk(2, dim=-1)
        candidate = torch.tanh(self.candidate(torch.cat([inputs, reset * state], dim=-1)))
        return update * state + (1 - update) * candidate

    def read(self, tokens: Tensor, mask: Tensor, *, backward: bool = False) -> Tensor:
        """Step through padded sequences, from a state of zeros.

        Every step is that of `forward`, but what the inputs contribute is one product for all
        tokens. Where the mask is false the state passes unchanged, so padding on the right does
        not touch the states of real tokens in either direction.

        Args:
            tokens: [batch, tokens, inputs].
            mask: true for real tokens [batch, tokens].
            backward: from the last token to the first.

        Returns:
            the states [batch, tokens, state], each at its token's place.
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
