"""The three models of Rocktäschel et al. (2016), which differ in how they represent a pair.

Written here with row vectors; Y are the premise's outputs, h_t the hypothesis' at word t.
"""

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.configs import LABELS, ConditionalConfig
from actmodels.data.pairs import NULL, Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import masked_softmax, weighted_mean
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.recurrent import LSTM, at_end
from actmodels.prediction import Prediction


class ReadPair(NamedTuple):
    """Outputs Y and h of a pair [batch, tokens, width], masks, and h_N `last` [batch, width]."""

    premise: Tensor
    premise_mask: Tensor
    hypothesis: Tensor
    hypothesis_mask: Tensor
    last: Tensor


def delimited(ids: Tensor, mask: Tensor) -> Tensor:
    """Put the delimiter, the NULL token, behind the last token [batch, tokens + 1]."""
    longer = nn.functional.pad(ids, (0, 1))
    place = mask.sum(dim=-1, keepdim=True)
    return longer.masked_fill(torch.arange(longer.shape[-1], device=ids.device) == place, NULL)


class ConditionalReader(nn.Module):
    """One LSTM for the premise, a second whose cell starts from where the first one's ended."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.premise = LSTM(width, width)
        self.hypothesis = LSTM(width, width)

    def forward(
        self, premise: Tensor, premise_mask: Tensor, hypothesis: Tensor, hypothesis_mask: Tensor
    ) -> ReadPair:
        """Read the premise up to its delimiter, then the hypothesis without one.

        premise, hypothesis: words [batch, tokens + 1, width] of `delimited` sentences, so that
        either can come first (two-way). Masks [batch, tokens] leave the delimiter out.
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

    def forward(self, pair: ReadPair) -> Tensor:
        """Attend with h_N: r [batch, width]."""
        return self.attend(self.query(pair.last), self.keys(pair.premise), pair)

    def attend(self, query: Tensor, keys: Tensor, pair: ReadPair) -> Tensor:
        """The same of h W_h [batch, width] and Y W_y [batch, premise, width]."""
        scores = self.score(torch.tanh(keys + query[..., None, :])).squeeze(-1)  # [batch, premise]
        return weighted_mean(pair.premise, masked_softmax(scores, pair.premise_mask))


class RecurrentPremiseAttention(nn.Module):
    """Attend at every word t of the hypothesis, knowing what was attended to before.

    M_t = tanh(Y W_y + h_t W_h + r_{t-1} W_r);  alpha_t = softmax(M_t w)
    r_t = alpha_t Y + tanh(r_{t-1} W_t), from r_0 = 0, without biases.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = PremiseAttention(width)
        self.recurrent = Linear(width, 2 * width, bias=False)  # W_r and W_t side by side

    def forward(self, pair: ReadPair) -> Tensor:
        """Attend word by word: r at the last real word [batch, width]."""
        keys = self.attention.keys(pair.premise)
        states = [torch.zeros_like(pair.premise[..., 0, :])]
        for query in self.attention.query(pair.hypothesis).unbind(-2):
            from_last, carried = self.recurrent(states[-1]).chunk(2, dim=-1)
            found = self.attention.attend(query + from_last, keys, pair)
            states.append(found + torch.tanh(carried))
        return at_end(torch.stack(states, dim=-2), pair.hypothesis_mask)


class PairRepresentation(nn.Module):
    """h* = tanh(r W_p + h_N W_x): what was attended to and what was read, without biases."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attended = Linear(width, width, bias=False)
        self.last = Linear(width, width, bias=False)

    def forward(self, attended: Tensor, last: Tensor) -> Tensor:
        """Map r and h_N, each [batch, width], to h* [batch, width]."""
        return torch.tanh(self.attended(attended) + self.last(last))


class ConditionalModel(PairModel):
    """Project the words, read premise and hypothesis, represent the pair, classify.

    Dropout on the inputs of the LSTMs and on the pair's representation. Two-way, the same weights
    read the pair in reverse order too, and both representations are classified side by side.
    """

    def __init__(self, config: ConditionalConfig, vectors: Tensor) -> None:
        super().__init__()
        self.two_way = config.two_way
        self.words = ProjectedWords(vectors, config.width, tanh=False, bias=True)
        self.reader = ConditionalReader(config.width)
        self.dropout = Dropout(config.dropout)
        self.classify = Linear((1 + config.two_way) * config.width, len(LABELS))
        self.add_layers(config.width)
        initialize(self, config.init, config.init_std)

    def add_layers(self, width: int) -> None:
        """Make what `represent` needs."""

    @abstractmethod
    def represent(self, pair: ReadPair) -> Tensor:
        """Make one vector of a pair that has been read [batch, width]."""

    def forward(self, batch: Batch) -> Prediction:
        sides = (batch.premise, batch.premise_mask), (batch.hypothesis, batch.hypothesis_mask)
        premise, hypothesis = (
            (self.dropout(self.words(delimited(ids, mask))), mask) for ids, mask in sides
        )
        pair = self.represent(self.reader(*premise, *hypothesis))
        if self.two_way:
            back = self.represent(self.reader(*hypothesis, *premise))
            pair = torch.cat([pair, back], dim=-1)
        return Prediction(self.classify(self.dropout(pair)))


class ConditionalEncoding(ConditionalModel):
    """Classify h_N, the hypothesis' last output (section 2.2).

    251,491 trained parameters at width 116 (published: 252k).
    """

    def represent(self, pair: ReadPair) -> Tensor:
        return pair.last


class ConditionalAttention(ConditionalModel):
    """Look back at the premise once, after the last word (section 2.3).

    231,303 trained parameters at width 100 (published: 242k, as with a further layer).
    """

    attention: type[nn.Module] = PremiseAttention

    def add_layers(self, width: int) -> None:
        self.attend = self.attention(width)
        self.combine = PairRepresentation(width)

    def represent(self, pair: ReadPair) -> Tensor:
        return self.combine(self.attend(pair), pair.last)


class WordByWordAttention(ConditionalAttention):
    """Look back at the premise at each word (section 2.4).

    251,303 trained parameters at width 100 (published: 252k).
    """

    attention = RecurrentPremiseAttention
