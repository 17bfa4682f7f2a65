"""LSTM sentence encoders (Bowman et al. 2015)."""

import torch
from torch import Tensor, nn

from actmodels.configs import LstmEncodersConfig
from actmodels.data.pairs import Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.recurrent import LSTM
from actmodels.prediction import Prediction


class LstmEncoders(PairModel):
    """Encode each sentence with the same LSTM, concatenate, classify with three tanh layers.

    Words have a tanh projection; dropout on the inputs and outputs of the encoder. 231,703 trained
    parameters at width 100 and layer size 200 (published: 220k).
    """

    def __init__(self, config: LstmEncodersConfig, vectors: Tensor, classes: int) -> None:
        super().__init__()
        size = config.layer_size
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.encoder = LSTM(config.width, config.width)
        self.dropout = Dropout(config.dropout)
        layers = ((Linear(inputs, size), nn.Tanh()) for inputs in (2 * config.width, size, size))
        self.layers = nn.Sequential(*(part for layer in layers for part in layer))
        self.classify = Linear(size, classes)
        initialize(self, config.init, config.init_std)

    def encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Encode token ids [batch, tokens] as the final hidden state [batch, width]."""
        words = self.dropout(self.words(ids))
        _, end = self.encoder(words, mask, self.encoder.zeros(words))
        return self.dropout(end.hidden)

    def forward(self, batch: Batch) -> Prediction:
        premise = self.encode(batch.premise, batch.premise_mask)
        hypothesis = self.encode(batch.hypothesis, batch.hypothesis_mask)
        pair = torch.cat([premise, hypothesis], dim=-1)  # [batch, 2 · width]
        return Prediction(self.classify(self.layers(pair)))
