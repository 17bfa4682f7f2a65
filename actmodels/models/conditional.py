"""What the three models of Rocktäschel et al. (2016) share: all but how a pair is represented."""

from abc import abstractmethod

import torch
from torch import Tensor

from actmodels.data.batching import Batch
from actmodels.data.labels import LABELS
from actmodels.models.pair_model import PairModel
from actmodels.models.prediction import Prediction
from actmodels.modules.conditional import ConditionalReader, ReadPair, delimited
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords
from actmodels.settings import ConditionalConfig


class ConditionalModel(PairModel):
    """Project the words, read premise and hypothesis, represent the pair, classify.

    Dropout is on the inputs of the LSTMs and on the pair's representation. Two-way, the same
    weights read the pair the other way round as well, and both representations are classified
    side by side.

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.embeddings.
    """

    def __init__(self, config: ConditionalConfig, vectors: Tensor) -> None:
        super().__init__()
        self.two_way = config.two_way
        self.words = ProjectedWords(vectors, config.width, tanh=False, bias=True)
        self.reader = ConditionalReader(config.width)
        self.dropout = Dropout(config.dropout)
        self.classify = Linear((1 + config.two_way) * config.width, len(LABELS))

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
