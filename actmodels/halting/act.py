"""Adaptive Computation Time for one sequence per example (Graves 2016 section 2; paper app. C)."""

from torch import Tensor

from actmodels.halting.distribution import Halted, HaltingUnit, until
from actmodels.halting.family import Classify, Halting, weighted_mean
from actmodels.modules.linear import per_trial
from actmodels.prediction import Prediction, cross_entropies, mean_over_examples
from actmodels.settings import ActConfig, SupervisedActConfig, TargetStepsConfig


def act(probabilities: Tensor, epsilon: float | Tensor) -> Halted:
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
        self.max_steps = config.max_steps
        self.epsilon: float | Tensor = config.epsilon
        self.weight: float | Tensor = getattr(config, "ponder_weight", 0.0)
        self.unit = HaltingUnit(state, config.halting_bias)

    def cost_weight(self) -> float | Tensor:
        """The ponder weight now."""
        return self.weight

    def probability(self, state: Tensor) -> Tensor:
        """h_n [batch]."""
        halting: Tensor = self.unit(state)
        return halting

    def done(self, probabilities: Tensor) -> Tensor:
        """The probabilities so far reach 1 - epsilon."""
        total = probabilities.sum(dim=-1)
        return ~(total < per_trial(1 - self.epsilon, total))  # one that is not a number ends too

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        """Classify the mean state."""
        halted = act(probabilities, self.epsilon)
        logits = classify(weighted_mean(states, halted.weights))
        return Prediction(logits, halted.steps, halted.ponder_cost, halted.weights)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Cross-entropy + ponder weight · mean(N + R) (paper eq. 8)."""
        assert prediction.ponder_cost is not None
        loss = mean_over_examples(cross_entropies(prediction.logits, labels), labels)
        cost = mean_over_examples(prediction.ponder_cost, labels)
        return loss + per_trial(self.cost_weight(), cost) * cost

    @property
    def current_ponder_weight(self) -> float | Tensor:
        """The weight of N + R."""
        return self.cost_weight()
