"""Attention of the hypothesis over the premise, additive (Rocktäschel et al. 2016).

Written here with row vectors; Y are the premise's outputs, h_t the hypothesis' at word t.
"""

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear
from actmodels.modules.lstm import at_end
from actmodels.modules.masking import masked_softmax


class PremiseAttention(nn.Module):
    """M = tanh(Y W_y + h W_h);  alpha = softmax(M w);  r = alpha Y, without biases."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.keys = Linear(width, width, bias=False)
        self.query = Linear(width, width, bias=False)
        self.score = Linear(width, 1, bias=False)

    def forward(self, query: Tensor, premise: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Attend once.

        Args:
            query: h_N [batch, width].
            premise: Y [batch, premise, width]. mask: true for its real tokens [batch, premise].

        Returns:
            the attended premise r [batch, width] and the weights alpha [batch, premise].
        """
        return self.attend(self.query(query), self.keys(premise), premise, mask)

    def attend(
        self, query: Tensor, keys: Tensor, premise: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The same of h W_h [batch, width] and Y W_y [batch, premise, width]."""
        scores = self.score(torch.tanh(keys + query[..., None, :])).squeeze(-1)  # [batch, premise]
        weights = masked_softmax(scores, mask)
        return (weights[..., None, :] @ premise).squeeze(-2), weights


class RecurrentPremiseAttention(nn.Module):
    """Attend at every word t of the hypothesis, knowing what was attended to before.

    M_t = tanh(Y W_y + h_t W_h + r_{t-1} W_r);  alpha_t = softmax(M_t w)
    r_t = alpha_t Y + tanh(r_{t-1} W_t), from r_0 = 0, without biases.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = PremiseAttention(width)
        self.recurrent = Linear(width, 2 * width, bias=False)  # W_r and W_t side by side

    def forward(
        self, queries: Tensor, query_mask: Tensor, premise: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Attend word by word.

        Args:
            queries: h [batch, hypothesis, width]. query_mask: true for its real tokens.
            premise: Y [batch, premise, width]. mask: true for its real tokens.

        Returns:
            r at the last real word [batch, width] and the weights of every word
            [batch, hypothesis, premise]; those of padding words mean nothing.
        """
        keys = self.attention.keys(premise)
        attended = torch.zeros_like(premise[..., 0, :])
        states, weights = [attended], []
        for query in self.attention.query(queries).unbind(-2):
            from_last, carried = self.recurrent(attended).chunk(2, dim=-1)
            found, alpha = self.attention.attend(query + from_last, keys, premise, mask)
            attended = found + torch.tanh(carried)
            states.append(attended)
            weights.append(alpha)
        return at_end(torch.stack(states, dim=-2), query_mask), torch.stack(weights, dim=-2)


class PairRepresentation(nn.Module):
    """h* = tanh(r W_p + h_N W_x): what was attended to and what was read, without biases."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attended = Linear(width, width, bias=False)
        self.last = Linear(width, width, bias=False)

    def forward(self, attended: Tensor, last: Tensor) -> Tensor:
        """Map r and h_N, each [batch, width], to h* [batch, width]."""
        return torch.tanh(self.attended(attended) + self.last(last))
