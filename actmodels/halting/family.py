"""The interface of halting: when to stop, what to answer, and what to pay for the steps."""

from abc import abstractmethod
from collections.abc import Callable

from torch import Tensor, nn

from actmodels.prediction import Prediction
from actmodels.registry import HALTINGS, HaltingConfig, load_class

Classify = Callable[[Tensor], Tensor]


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

    @abstractmethod
    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """The loss that training minimises, in nats []; in a pack [trials]."""

    def start_epoch(self, epoch: int | Tensor) -> None:
        """Told before each epoch of training, counted from 1; in a pack [trials]."""

    def adapt(self, prediction: Prediction, labels: Tensor) -> None:
        """Told after each update of training."""

    @property
    def current_ponder_weight(self) -> float | Tensor | None:
        """The weight of the ponder cost now; None where steps cost nothing; in a pack [trials]."""
        return None


def weighted_mean(states: Tensor, weights: Tensor) -> Tensor:
    """The mean state [batch, state] of states [batch, steps, state] by weights [batch, steps]."""
    return (weights[..., None, :] @ states).squeeze(-2)


def build_halting(config: HaltingConfig, state: int) -> Halting:
    """Make the halting that a configuration asks for, over states of size `state`."""
    (halting,) = (kind.halting for kind in HALTINGS.values() if isinstance(config, kind.settings))
    built: Halting = load_class(halting)(config, state)
    return built
