"""Conditional encoding with attention at the end of the hypothesis."""

from torch import Tensor

from actmodels.models.conditional import ConditionalModel
from actmodels.modules.conditional import ReadPair
from actmodels.modules.initialisation import initialise
from actmodels.modules.premise_attention import PairRepresentation, PremiseAttention
from actmodels.settings import ConditionalConfig


class ConditionalAttention(ConditionalModel):
    """Look back at the premise once, after the last word (Rocktäschel et al. 2016, section 2.3).

    231,303 trained parameters at width 100, by the equations. Published are 242k, which a further
    layer of 100 units would meet; there is none in the equations.
    """

    def __init__(self, config: ConditionalConfig, vectors: Tensor) -> None:
        super().__init__(config, vectors)
        self.attend = PremiseAttention(config.width)
        self.combine = PairRepresentation(config.width)
        initialise(self, config.init, config.init_std)

    def represent(self, reading: ReadPair) -> Tensor:
        """Give h* of the premise as h_N attends to it [batch, width]."""
        attended, _ = self.attend(reading.last, reading.premise, reading.premise_mask)
        pair: Tensor = self.combine(attended, reading.last)
        return pair
