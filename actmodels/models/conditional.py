"""Conditional encoding, attention, word-by-word attention (Rocktäschel et al. 2016).

Equations use row vectors; Y are the premise's LSTM outputs, h_t the hypothesis' at word t.
"""

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.configs import ConditionalConfig
from actmodels.data.pairs import NULL, Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import masked_softmax, weighted_mean
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.recurrent import LSTM, at_end
from actmodels.prediction import Prediction


class EncodedPair(NamedTuple):
    """LSTM outputs of a pair."""

    premise: Tensor  # Y [batch, tokens, width]
    premise_mask: Tensor
    hypothesis: Tensor  # h [batch, tokens, width]
    hypothesis_mask: Tensor
    last: Tensor  # h_N [batch, width]


def delimited(ids: Tensor, mask: Tensor) -> Tensor:
    """Append the delimiter, the NULL token, to each sentence [batch, tokens + 1]."""
    longer = nn.functional.pad(ids, (0, 1))
    end = mask.sum(dim=-1, keepdim=True)
    return longer.masked_fill(torch.arange(longer.shape[-1], device=ids.device) == end, NULL)


class ConditionalEncoder(nn.Module):
    """An LSTM over the premise, and one over the hypothesis initialized with its final cell."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.premise = LSTM(width, width)
        self.hypothesis = LSTM(width, width)

    def forward(
        self, premise: Tensor, premise_mask: Tensor, hypothesis: Tensor, hypothesis_mask: Tensor
    ) -> EncodedPair:
        """Encode the premise with its delimiter, then the hypothesis without one.

        Args:
            premise: words [batch, tokens + 1, width] of `delimited` sentences.
            premise_mask: [batch, tokens], without the delimiter.
            hypothesis: like premise; its delimiter is not read.
            hypothesis_mask: like premise_mask.
        """
        with_delimiter = nn.functional.pad(premise_mask, (1, 0), value=True)
        zeros = self.premise.zeros(premise)
        outputs, end = self.premise(premise, with_delimiter, zeros)
        start = zeros._replace(cell=end.cell)
        encoded, last = self.hypothesis(hypothesis[..., :-1, :], hypothesis_mask, start)
        # Attention excludes the delimiter.
        return EncodedPair(
            outputs[..., :-1, :], premise_mask, encoded, hypothesis_mask, last.hidden
        )


class PremiseAttention(nn.Module):
    """M = tanh(Y W_y + h W_h);  alpha = softmax(M w);  r = alpha Y, without biases."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.keys = Linear(width, width, bias=False)
        self.query = Linear(width, width, bias=False)
        self.score = Linear(width, 1, bias=False)

    def forward(self, pair: EncodedPair) -> Tensor:
        """Return r [batch, width] for the query h_N."""
        return self.by_word(pair)[0][0]

    def by_word(self, pair: EncodedPair) -> tuple[list[Tensor], list[Tensor]]:
        """Return r [batch, width] and alpha [batch, premise] for h_N, in lists of one."""
        attended, weights = self.attend(self.query(pair.last), self.keys(pair.premise), pair)
        return [attended], [weights]

    def attend(self, query: Tensor, keys: Tensor, pair: EncodedPair) -> tuple[Tensor, Tensor]:
        """Return r and alpha for query h W_h [batch, width], keys Y W_y [batch, premise, width]."""
        scores = self.score(torch.tanh(keys + query[..., None, :])).squeeze(-1)  # [batch, premise]
        weights = masked_softmax(scores, pair.premise_mask)
        return weighted_mean(pair.premise, weights), weights


class RecurrentPremiseAttention(nn.Module):
    """Word-by-word attention: attend to the premise at every word t of the hypothesis.

    M_t = tanh(Y W_y + h_t W_h + r_{t-1} W_r);  alpha_t = softmax(M_t w)
    r_t = alpha_t Y + tanh(r_{t-1} W_t), from r_0 = 0, without biases.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = PremiseAttention(width)
        self.recurrent = Linear(width, 2 * width, bias=False)  # [W_r, W_t]

    def forward(self, pair: EncodedPair) -> Tensor:
        """Return r [batch, width] at the last word of the hypothesis."""
        states = [torch.zeros_like(pair.premise[..., 0, :]), *self.by_word(pair)[0]]
        return at_end(torch.stack(states, dim=-2), pair.hypothesis_mask)

    def by_word(self, pair: EncodedPair) -> tuple[list[Tensor], list[Tensor]]:
        """Return r_t [batch, width] and alpha_t [batch, premise] of each word t."""
        keys, weights = self.attention.keys(pair.premise), list[Tensor]()
        states = [torch.zeros_like(pair.premise[..., 0, :])]
        for query in self.attention.query(pair.hypothesis).unbind(-2):
            for_query, for_state = self.recurrent(states[-1]).chunk(2, dim=-1)
            attended, alpha = self.attention.attend(query + for_query, keys, pair)
            states.append(attended + torch.tanh(for_state))
            weights.append(alpha)
        return states[1:], weights


class PairRepresentation(nn.Module):
    """h* = tanh(r W_p + h_N W_x), without biases."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attended = Linear(width, width, bias=False)
        self.last = Linear(width, width, bias=False)

    def forward(self, attended: Tensor, last: Tensor) -> Tensor:
        """Map r and h_N, each [batch, width], to h* [batch, width]."""
        return torch.tanh(self.attended(attended) + self.last(last))


class ConditionalModel(PairModel):
    """Project the words, encode premise and hypothesis, represent the pair, classify.

    Dropout on the inputs of the LSTMs and on the pair's representation. The two-way variant of
    attention is left out: its authors found no gain.
    """

    def __init__(self, config: ConditionalConfig, vectors: Tensor, classes: int) -> None:
        super().__init__()
        self.words = ProjectedWords(vectors, config.width, tanh=False, bias=True)
        self.reader = ConditionalEncoder(config.width)
        self.dropout = Dropout(config.dropout)
        self.classify = Linear(config.width, classes)
        self.add_layers(config.width)
        initialize(self, config.init, config.init_std)

    def add_layers(self, width: int) -> None:
        """Add the layers of `represent`."""

    @abstractmethod
    def represent(self, pair: EncodedPair) -> Tensor:
        """Return the vector of an encoded pair [batch, width]."""

    def encode(self, batch: Batch) -> EncodedPair:
        sides = (batch.premise, batch.premise_mask), (batch.hypothesis, batch.hypothesis_mask)
        premise, hypothesis = (
            (self.dropout(self.words(delimited(ids, mask))), mask) for ids, mask in sides
        )
        encoded: EncodedPair = self.reader(*premise, *hypothesis)
        return encoded

    def forward(self, batch: Batch) -> Prediction:
        return Prediction(self.classify(self.dropout(self.represent(self.encode(batch)))))


class ConditionalEncoding(ConditionalModel):
    """Classify h_N, the last output of the hypothesis (section 2.2).

    251,491 trained parameters at width 116 (published: 252k).
    """

    def represent(self, pair: EncodedPair) -> Tensor:
        return pair.last


class ConditionalAttention(ConditionalModel):
    """Attend to the premise once, after the last word of the hypothesis (section 2.3).

    231,303 trained parameters at width 100 (published: 242k, the size with a further layer).
    """

    attention: type[PremiseAttention | RecurrentPremiseAttention] = PremiseAttention

    def add_layers(self, width: int) -> None:
        self.attend = self.attention(width)
        self.combine = PairRepresentation(width)

    def represent(self, pair: EncodedPair) -> Tensor:
        return self.combine(self.attend(pair), pair.last)


class WordByWordAttention(ConditionalAttention):
    """Attend to the premise at each word of the hypothesis (section 2.4).

    251,303 trained parameters at width 100 (published: 252k).
    """

    attention = RecurrentPremiseAttention
