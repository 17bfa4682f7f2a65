"""Conditional encoding with attention at every word of the hypothesis."""

from torch import Tensor

from actmodels.models.conditional import ConditionalModel
from actmodels.modules.conditional import ReadPair
from actmodels.modules.initialisation import initialise
from actmodels.modules.premise_attention import PairRepresentation, RecurrentPremiseAttention
from actmodels.settings import ConditionalConfig


class WordByWordAttention(ConditionalModel):
    """Look back at the premise at each word (Rocktäschel et al. 2016, section 2.4).

    251,303 trained parameters at width 100 (published: 252k).
    """

    def __init__(self, config: ConditionalConfig, vectors: Tensor) -> None:
        super().__init__(config, vectors)
        self.attend = RecurrentPremiseAttention(config.width)
        self.combine = PairRepresentation(config.width)
        initialise(self, config.init, config.init_std)

    def represent(self, reading: ReadPair) -> Tensor:
        """Give h* of the premise as the whole hypothesis attended to it [batch, width]."""
        attended, _ = self.attend(
            reading.hypothesis, reading.hypothesis_mask, reading.premise, reading.premise_mask
        )
        pair: Tensor = self.combine(attended, reading.last)
        return pair
