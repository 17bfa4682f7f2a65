"""Halting around any step function: when to stop, what to answer, what to pay for the steps."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from actmodels.modules.linear import HaltingUnit, per_trial
from actmodels.prediction import Prediction, cross_entropies, mean_cross_entropy, mean_over_examples
from actmodels.registry import HALTINGS, HaltingConfig, load_class

Classify = Callable[[Tensor], Tensor]


class Objective(nn.Module):
    """The objective of a model without steps: the loss of its answers."""

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """What training minimises, in nats []; when fused [trials]."""
        return mean_cross_entropy(prediction.logits, labels)

    def start_epoch(self, epoch: int | Tensor) -> None:
        """Called before each epoch of training, counted from 1; when fused [trials]."""

    def on_update_end(self, prediction: Prediction, labels: Tensor) -> None:
        """Called after each update of training."""

    @property
    def current_ponder_weight(self) -> float | Tensor | None:
        """The weight of the ponder cost now; None where steps cost nothing; when fused [trials]."""
        return None


class Halting(Objective):
    """A halting mechanism for the states of any recurrent inference; all stop at max_steps."""

    max_steps: int

    @abstractmethod
    def probability(self, state: Tensor) -> Tensor:
        """The halting probability [batch] that goes with a state [batch, state]."""

    @abstractmethod
    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Which examples [batch] need no step after those of probabilities [batch, steps]."""

    @abstractmethod
    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        """Turn all steps into a prediction, for each example alone.

        states: [batch, steps, state], of which the last is a cap. probabilities: [batch, steps].
        classify: maps [..., state] to logits [..., labels].
        """


class PonderedHalting(Halting):
    """Halting by a unit that reads each state [..., state], and a price for the steps.

    epsilon: what may be left when an example halts. weight: the ponder weight. is_price: the
    ponder cost is a price for steps, which a curriculum may begin without. charges: paid now.
    """

    is_price: ClassVar[bool] = True
    charges = True

    def __init__(self, config: Any, state: int) -> None:
        super().__init__()
        self.max_steps = config.max_steps
        self.epsilon: float | Tensor = config.epsilon
        self.weight: float | Tensor = getattr(config, "ponder_weight", 0.0)
        self.unit = HaltingUnit(state, config.halting_bias)

    def probability(self, state: Tensor) -> Tensor:
        """h_n [batch]."""
        return self.unit(state)

    def masses(self, probabilities: Tensor) -> Tensor:
        """The distribution over steps, which `has_halted` and `truncate` cut off [batch, steps]."""
        return probabilities

    def has_halted(self, probabilities: Tensor) -> Tensor:
        """The masses so far reach 1 - epsilon."""
        total = self.masses(probabilities).sum(dim=-1)
        return ~(total < per_trial(1 - self.epsilon, total))  # one that is not a number ends too

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
        return self.weight


def build_halting(config: HaltingConfig, state: int) -> Halting:
    """Make the halting that a configuration asks for, over states of size `state`."""
    (halting,) = (kind.halting for kind in HALTINGS.values() if type(config) is kind.settings)
    return load_class(halting)(config, state)


class Trajectory(NamedTuple):
    """All steps: states [batch, steps, state] and halting probabilities [batch, steps]."""

    states: Tensor
    probabilities: Tensor


def unroll(
    step: Callable[[Tensor], Tensor],
    state: Tensor,
    halting: Halting,
    max_steps: int | None = None,
    *,
    until_halted: bool = True,
) -> Trajectory:
    """Take steps from a state [batch, state] for all examples, halted or not.

    step: maps the states of the whole batch to the next ones. max_steps: those of the halting by
    default. until_halted: stop once all have halted; the steps left out would weigh 0.
    """
    states: list[Tensor] = []
    probabilities: list[Tensor] = []
    for _ in range(max_steps or halting.max_steps):
        state = step(state)
        states.append(state)
        probabilities.append(halting.probability(state))
        if until_halted and bool(
            halting.has_halted(torch.stack(probabilities, dim=-1).detach()).all()
        ):
            break
    return Trajectory(torch.stack(states, dim=-2), torch.stack(probabilities, dim=-1))


def adapt_steps(
    step: Callable[[Tensor], Tensor], state: Tensor, halting: Halting, classify: Classify
) -> Prediction:
    """Answer after as many steps as each example needs; see `unroll` and `Halting.answer`."""
    return halting.answer(*unroll(step, state, halting), classify)


class Halted(NamedTuple):
    """Where each example halted.

    weights: of each state [batch, steps], sum 1. steps: N [batch], no gradient. remainder: R, the
    weight of step N [batch].
    """

    weights: Tensor
    steps: Tensor
    remainder: Tensor

    @property
    def ponder_cost(self) -> Tensor:
        """N + R [batch]; its gradient reaches the halting probabilities through R alone."""
        return self.steps + self.remainder


def truncate(masses: Tensor, epsilon: float | Tensor) -> Halted:
    """Truncate a distribution where little is left, for each example alone.

    N is the first n with c_n = m_1 + ... + m_n >= 1 - epsilon, or the last step (the cap). The
    weight of step n is m_n before N, R = 1 - c_{N-1} at N, and 0 after it.

    masses: m_n >= 0 [batch, steps]; steps after N change nothing. epsilon: when fused [trials].
    """
    before = torch.cumsum(masses, dim=-1) - masses  # c_{n-1}
    enough = per_trial(1 - epsilon, before)
    running = before < enough
    # Rounding in the subtraction must not keep a first step from running.
    running = torch.cat([torch.ones_like(running[..., :1]), running[..., 1:]], dim=-1)
    crossing = before + masses >= enough
    capped = torch.zeros_like(crossing)
    capped[..., -1] = True
    last = running & (crossing | capped)
    remainder = torch.where(last, 1 - before, torch.zeros_like(before)).sum(dim=-1)
    weights = torch.where(last, 1 - before, masses) * running
    return Halted(weights, running.sum(dim=-1).to(masses.dtype), remainder)


def halting_distribution(probabilities: Tensor) -> Tensor:
    """h_n (1 - h_1) ... (1 - h_{n-1}) [batch, steps]: the probability that step n halts first."""
    return probabilities * still_open(probabilities)[1]


def still_open(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """p_n = (1 - h_1) ... (1 - h_n) and p_{n-1}, each [batch, steps]; p_0 = 1."""
    after = torch.cumprod(1 - probabilities, dim=-1)
    return after, torch.cat([torch.ones_like(after[..., :1]), after[..., :-1]], dim=-1)
