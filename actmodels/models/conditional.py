"""The three models of Rocktäschel et al. (2016), which differ in how they represent a pair."""

from abc import abstractmethod

import torch
from torch import Tensor

from actmodels.data.labels import LABELS
from actmodels.data.pairs import Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.conditional import (
    ConditionalReader,
    PairRepresentation,
    PremiseAttention,
    ReadPair,
    RecurrentPremiseAttention,
    delimited,
)
from actmodels.modules.dropout import Dropout
from actmodels.modules.initialisation import initialise
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords
from actmodels.prediction import Prediction
from actmodels.settings import ConditionalConfig


class ConditionalModel(PairModel):
    """Project the words, read premise and hypothesis, represent the pair, classify.

    Dropout is on the inputs of the LSTMs and on the pair's representation. Two-way, the same
    weights read the pair the other way round as well, and both representations are classified
    side by side.

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.trial_data.
    """

    def __init__(self, config: ConditionalConfig, vectors: Tensor) -> None:
        super().__init__()
        self.two_way = config.two_way
        self.words = ProjectedWords(vectors, config.width, tanh=False, bias=True)
        self.reader = ConditionalReader(config.width)
        self.dropout = Dropout(config.dropout)
        self.classify = Linear((1 + config.two_way) * config.width, len(LABELS))
        self.add_layers(config.width)
        initialise(self, config.init, config.init_std)

    def add_layers(self, width: int) -> None:
        """Make what `represent` needs."""

    @abstractmethod
    def represent(self, reading: ReadPair) -> Tensor:
        """Make one vector of a pair that has been read [batch, width]."""

    def forward(self, batch: Batch) -> Prediction:
        """Score a batch; see Prediction for shapes."""
        premise, hypothesis = (
            (self.dropout(self.words(delimited(ids, mask))), mask)
            for ids, mask in (
                (batch.premise, batch.premise_mask),
                (batch.hypothesis, batch.hypothesis_mask),
            )
        )
        pair = self.represent(self.reader(*premise, *hypothesis))
        if self.two_way:
            back = self.represent(self.reader(*hypothesis, *premise))
            pair = torch.cat([pair, back], dim=-1)
        return Prediction(self.classify(self.dropout(pair)))


class ConditionalEncoding(ConditionalModel):
    """Classify the last output of the hypothesis (Rocktäschel et al. 2016, section 2.2).

    251,491 trained parameters at width 116 (published: 252k, which leaves no room for a further
    layer in front of the softmax).
    """

    def represent(self, reading: ReadPair) -> Tensor:
        """Take h_N [batch, width]."""
        return reading.last


class ConditionalAttention(ConditionalModel):
    """Look back at the premise once, after the last word (Rocktäschel et al. 2016, section 2.3).

    231,303 trained parameters at width 100, by the equations. Published are 242k, which a further
    layer of 100 units would meet; there is none in the equations.
    """

    def add_layers(self, width: int) -> None:
        """See ConditionalModel."""
        self.attend = PremiseAttention(width)
        self.combine = PairRepresentation(width)

    def represent(self, reading: ReadPair) -> Tensor:
        """Give h* of the premise as h_N attends to it [batch, width]."""
        attended, _ = self.attend(reading.last, reading.premise, reading.premise_mask)
        pair: Tensor = self.combine(attended, reading.last)
        return pair


class WordByWordAttention(ConditionalModel):
    """Look back at the premise at each word (Rocktäschel et al. 2016, section 2.4).

    251,303 trained parameters at width 100 (published: 252k).
    """

    def add_layers(self, width: int) -> None:
        """See ConditionalModel."""
        self.attend = RecurrentPremiseAttention(width)
        self.combine = PairRepresentation(width)

    def represent(self, reading: ReadPair) -> Tensor:
        """Give h* of the premise as the whole hypothesis attended to it [batch, width]."""
        attended, _ = self.attend(
            reading.hypothesis, reading.hypothesis_mask, reading.premise, reading.premise_mask
        )
        pair: Tensor = self.combine(attended, reading.last)
        return pair
