"""Adaptive Computation Time for one sequence per example (Graves 2016 section 2; paper app. C)."""

from torch import Tensor

from actmodels.halting.distribution import until
from actmodels.halting.family import Classify, PonderedHalting
from actmodels.modules.attention import weighted_mean
from actmodels.prediction import Prediction


class Act(PonderedHalting):
    """Classify the mean state, weighted by the h_n as masses; pay for N + R (paper eq. 8)."""

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        halted = until(probabilities, self.epsilon)
        logits = classify(weighted_mean(states, halted.weights))
        return Prediction(logits, halted.steps, halted.ponder_cost, halted.weights)
