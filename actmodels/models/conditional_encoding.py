"""Conditional encoding: two LSTMs, the second starting where the first ended."""

from torch import Tensor

from actmodels.models.conditional import ConditionalModel
from actmodels.modules.conditional import ReadPair
from actmodels.modules.initialisation import initialise
from actmodels.settings import ConditionalConfig


class ConditionalEncoding(ConditionalModel):
    """Classify the last output of the hypothesis (Rocktäschel et al. 2016, section 2.2).

    251,491 trained parameters at width 116 (published: 252k, which leaves no room for a further
    layer in front of the softmax).
    """

    def __init__(self, config: ConditionalConfig, vectors: Tensor) -> None:
        super().__init__(config, vectors)
        initialise(self, config.init, config.init_std)

    def represent(self, reading: ReadPair) -> Tensor:
        """Take h_N [batch, width]."""
        return reading.last
