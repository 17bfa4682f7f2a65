"""Conditional encoding: read the hypothesis with the premise in mind (Rocktäschel et al. 2016)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.data.pairs import NULL
from actmodels.modules.lstm import LSTM, LSTMState


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
        outputs, end = self.premise(premise, with_delimiter, LSTMState(zeros, zeros))
        start = LSTMState(zeros, end.cell)
        read, last = self.hypothesis(hypothesis[..., :-1, :], hypothesis_mask, start)
        # Attention is over the words of the premise; the delimiter's output is not one.
        return ReadPair(outputs[..., :-1, :], premise_mask, read, hypothesis_mask, last.hidden)
