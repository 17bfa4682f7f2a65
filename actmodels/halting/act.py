"""Adaptive Computation Time for one sequence per example (Graves 2016 section 2; paper app. C)."""

from torch import Tensor
from torch.nn.functional import cross_entropy

from actmodels.halting.distribution import Halted, until
from actmodels.halting.family import Classify, Halting, weighted_mean
from actmodels.halting.unit import HaltingUnit
from actmodels.models.prediction import Prediction
from actmodels.settings import ActConfig, SupervisedActConfig, TargetStepsConfig


def act(probabilities: Tensor, epsilon: float) -> Halted:
    """Turn halting probabilities h_n [batch, steps] into weights, each example by itself.

    ACT takes the probabilities themselves as the masses of its distribution. In the 2016 code
    the remainder fell on the state of the batch's last step instead of the example's own.
    """
    return until(probabilities, epsilon)


class Act(Halting):
    """Classify the mean state, weighted by halting probabilities; pay for N + R.

    Args:
        state: size of the states.
    """

    def __init__(
        self, config: ActConfig | SupervisedActConfig | TargetStepsConfig, state: int
    ) -> None:
        super().__init__()
        self.config = config
        self.max_steps = config.max_steps
        self.epsilon = config.epsilon
        self.unit = HaltingUnit(state, config.halting_bias)

    def cost_weight(self) -> float | Tensor:
        """The ponder weight now."""
        assert isinstance(self.config, ActConfig)
        return self.config.ponder_weight

    def probability(self, state: Tensor) -> Tensor:
        """h_n [batch]."""
        halting: Tensor = self.unit(state)
        return halting

    def done(self, probabilities: Tensor) -> Tensor:
        """The probabilities so far reach 1 - epsilon."""
        return probabilities.sum(dim=1) >= 1 - self.epsilon

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        """Classify the mean state."""
        halted = act(probabilities, self.epsilon)
        logits = classify(weighted_mean(states, halted.weights))
        return Prediction(logits, halted.steps, halted.ponder_cost, halted.weights)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Cross-entropy + ponder weight · mean(N + R) (paper eq. 8)."""
        assert prediction.ponder_cost is not None
        loss = cross_entropy(prediction.logits, labels)
        return loss + self.cost_weight() * prediction.ponder_cost.mean()

    @property
    def current_ponder_weight(self) -> float:
        """The weight of N + R."""
        return float(self.cost_weight())
