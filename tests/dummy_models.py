"""A model and a halting mechanism that the registry does not have."""

from dataclasses import dataclass

from torch import Tensor

from actmodels.configs import LABELS
from actmodels.data.pairs import Batch
from actmodels.halting.base import Classify, Halting
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import weighted_mean
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords
from actmodels.prediction import Prediction
from actmodels.validators import Count


@dataclass(frozen=True)
class BagOfWordsConfig:
    width: Count


class BagOfWords(PairModel):
    """Sums the words of both sentences, and classifies the product of the sums."""

    def __init__(self, config: BagOfWordsConfig, vectors: Tensor) -> None:
        super().__init__()
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.classify = Linear(config.width, len(LABELS))

    def forward(self, batch: Batch) -> Prediction:
        premise = (self.words(batch.premise) * batch.premise_mask[..., None]).sum(dim=-2)
        hypothesis = (self.words(batch.hypothesis) * batch.hypothesis_mask[..., None]).sum(dim=-2)
        return Prediction(self.classify(premise * hypothesis))


@dataclass(frozen=True)
class EvenStepsConfig:
    even_steps: Count


class EvenSteps(Halting):
    """A fixed number of steps, all of the same weight."""

    def __init__(self, config: EvenStepsConfig, state: int) -> None:
        super().__init__()
        self.max_steps = config.even_steps

    def probability(self, state: Tensor) -> Tensor:
        return state.new_zeros(state.shape[:-1])

    def has_halted(self, probabilities: Tensor) -> Tensor:
        *batch, steps = probabilities.shape
        return probabilities.new_full(batch, steps >= self.max_steps).bool()

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        *batch, steps = probabilities.shape
        weights = probabilities.new_full(probabilities.shape, 1 / steps)
        taken = probabilities.new_full(batch, float(steps))
        return Prediction(classify(weighted_mean(states, weights)), taken, None, weights)
