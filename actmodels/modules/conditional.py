"""Reading the hypothesis with the premise in mind (Rocktäschel et al. 2016).

Written here with row vectors; Y are the premise's outputs, h_t the hypothesis' at word t.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.data.pairs import NULL
from actmodels.modules.attention import masked_softmax, weighted_mean
from actmodels.modules.linear import Linear
from actmodels.modules.recurrent import LSTM, at_end


class ReadPair(NamedTuple):
    """A pair of sentences that has been read.

    premise: outputs behind each word of the premise, Y [batch, premise, width].
    hypothesis: outputs behind each word of the hypothesis [batch, hypothesis, width].
    last: the output at the end of the hypothesis, h_N [batch, width].
    premise_mask, hypothesis_mask: true for real tokens [batch, tokens].
    """

    premise: Tensor
    premise_mask: Tensor
    hypothesis: Tensor
    hypothesis_mask: Tensor
    last: Tensor


def delimited(ids: Tensor, mask: Tensor) -> Tensor:
    """Put the delimiter behind the last token: [batch, tokens] to [batch, tokens + 1].

    The delimiter is the NULL token, a word without a vector: `oov_rule: trained` trains its row.
    """
    longer = nn.functional.pad(ids, (0, 1))
    place = mask.sum(dim=-1, keepdim=True)
    return longer.masked_fill(torch.arange(longer.shape[-1], device=ids.device) == place, NULL)


class ConditionalReader(nn.Module):
    """One LSTM for the premise, a second whose cell starts from where the first one's ended.

    Args:
        width: size of a word, and of both LSTMs.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.premise = LSTM(width, width)
        self.hypothesis = LSTM(width, width)

    def forward(
        self, premise: Tensor, premise_mask: Tensor, hypothesis: Tensor, hypothesis_mask: Tensor
    ) -> ReadPair:
        """Read the premise up to its delimiter, then the hypothesis without one.

        Args:
            premise, hypothesis: words [batch, tokens + 1, width] of `delimited` sentences. Both
                have a delimiter, so that the same words serve in either place (two-way).
            premise_mask, hypothesis_mask: true for real tokens, the delimiter not among them
                [batch, tokens].
        """
        with_delimiter = nn.functional.pad(premise_mask, (1, 0), value=True)
        zeros = self.premise.zeros(premise)
        outputs, end = self.premise(premise, with_delimiter, zeros)
        start = zeros._replace(cell=end.cell)
        read, last = self.hypothesis(hypothesis[..., :-1, :], hypothesis_mask, start)
        # Attention is over the words of the premise; the delimiter's output is not one.
        return ReadPair(outputs[..., :-1, :], premise_mask, read, hypothesis_mask, last.hidden)


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
        return weighted_mean(premise, weights), weights


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
