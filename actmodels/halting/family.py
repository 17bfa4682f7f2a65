"""The interface of halting: when to stop, what to answer, and what to pay for the steps."""

from abc import abstractmethod
from collections.abc import Callable

from torch import Tensor, nn

from actmodels.modules.linear import HaltingUnit, per_trial
from actmodels.prediction import Prediction, cross_entropies, mean_cross_entropy, mean_over_examples
from actmodels.registry import HALTINGS, HaltingConfig, load_class
from actmodels.settings import (
    ActConfig,
    DactConfig,
    PonderNetConfig,
    SupervisedActConfig,
    TargetStepsConfig,
)

Classify = Callable[[Tensor], Tensor]
PonderedConfig = ActConfig | DactConfig | PonderNetConfig | SupervisedActConfig | TargetStepsConfig


class Halting(nn.Module):
    """One way of halting, for states of any recurrent inference.

    Attributes:
        max_steps: steps after which every example stops.
    """

    max_steps: int

    @abstractmethod
    def probability(self, state: Tensor) -> Tensor:
        """The halting probability [batch] that goes with a state [batch, state]."""

    @abstractmethod
    def done(self, probabilities: Tensor) -> Tensor:
        """Which examples [batch] need no step after those of probabilities [batch, steps]."""

    @abstractmethod
    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        """Turn all steps into a prediction, each example by itself.

        Args:
            states: [batch, steps, state]; the last step given is a cap.
            probabilities: [batch, steps].
            classify: maps [..., state] to logits [..., labels].
        """

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """What training minimises, in nats []; in a pack [trials]."""
        return mean_cross_entropy(prediction.logits, labels)

    def start_epoch(self, epoch: int | Tensor) -> None:
        """Told before each epoch of training, counted from 1; in a pack [trials]."""

    def adapt(self, prediction: Prediction, labels: Tensor) -> None:
        """Told after each update of training."""

    @property
    def current_ponder_weight(self) -> float | Tensor | None:
        """The weight of the ponder cost now; None where steps cost nothing; in a pack [trials]."""
        return None


class PonderedHalting(Halting):
    """Halting by a unit that looks at each state, and a price for the steps.

    Args:
        state: size of the states.

    Attributes:
        epsilon: what may be left when an example halts. weight: the ponder weight.
        charges: whether steps cost anything; a curriculum may begin without.
    """

    charges = True

    def __init__(self, config: PonderedConfig, state: int) -> None:
        super().__init__()
        self.max_steps = config.max_steps
        self.epsilon: float | Tensor = config.epsilon
        self.weight: float | Tensor = getattr(config, "ponder_weight", 0.0)
        self.unit = HaltingUnit(state, config.halting_bias)

    def probability(self, state: Tensor) -> Tensor:
        """h_n [batch]."""
        halting: Tensor = self.unit(state)
        return halting

    def losses(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """The loss of each example in nats [batch]."""
        return cross_entropies(prediction.logits, labels)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Mean loss + ponder weight · mean ponder cost."""
        assert prediction.ponder_cost is not None
        loss = mean_over_examples(self.losses(prediction, labels), labels)
        if not self.charges:
            return loss
        cost = mean_over_examples(prediction.ponder_cost, labels)
        return loss + per_trial(self.current_ponder_weight, cost) * cost

    @property
    def current_ponder_weight(self) -> float | Tensor:
        """The weight of the ponder cost now; in a pack [trials]."""
        return self.weight


def build_halting(config: HaltingConfig, state: int) -> Halting:
    """Make the halting that a configuration asks for, over states of size `state`."""
    (halting,) = (kind.halting for kind in HALTINGS.values() if isinstance(config, kind.settings))
    built: Halting = load_class(halting)(config, state)
    return built
