"""Halting around any step function: when to stop, which state to classify, and the ponder cost."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from actmodels.configs import FixedStepsConfig
from actmodels.modules.linear import HaltingUnit, per_trial
from actmodels.prediction import Prediction, cross_entropies, mean_cross_entropy, mean_over_examples
from actmodels.registry import HALTINGS, HaltingConfig, load_class

Classify = Callable[[Tensor], Tensor]  # states [..., state] to logits [..., labels]


class Objective(nn.Module):
    """The training objective of a model without inference steps: mean cross-entropy."""

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Return the loss to minimize, in nats []; when fused [trials]."""
        return mean_cross_entropy(prediction.logits, labels)

    def start_epoch(self, epoch: int | Tensor) -> None:
        """Prepare for a training epoch, counted from 1; when fused [trials]."""

    def on_update_end(self, prediction: Prediction, labels: Tensor) -> None:
        """Adapt to the prediction of the training batch after an optimizer update."""

    @property
    def current_ponder_weight(self) -> float | Tensor | None:
        """Current weight of the ponder cost; None without one; when fused [trials]."""
        return None


class Halting(Objective):
    """Base class of halting mechanisms, for the states of any recurrent inference."""

    max_steps: int

    @abstractmethod
    def probability(self, state: Tensor) -> Tensor:
        """Return the halting probability h_n [batch] of a state [batch, state]."""

    @abstractmethod
    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Return which examples [batch] need no further step, from h_1 ... h_n [batch, steps]."""

    @abstractmethod
    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        """Combine the states of all steps into a prediction; examples do not affect each other.

        Args:
            states: [batch, steps, state]; an example that has not halted halts at the last one.
            probabilities: halting probabilities [batch, steps].
            classify: maps [..., state] to logits [..., labels].
        """


class FixedSteps(Halting):
    """Classify the last of a fixed number of states, without a ponder cost.

    Sordoni et al. 2016; thesis figure 6.2.
    """

    def __init__(self, config: FixedStepsConfig, state: int) -> None:
        super().__init__()
        self.max_steps = config.steps

    def probability(self, state: Tensor) -> Tensor:
        """Return zeros [batch]: no example halts before the last step."""
        return state.new_zeros(state.shape[:-1])

    def has_halted(self, probabilities: Tensor) -> Tensor:
        *batch, steps = probabilities.shape
        return torch.full(batch, steps >= self.max_steps, device=probabilities.device)

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        *batch, steps = probabilities.shape
        weights = torch.zeros_like(probabilities)
        weights[..., -1] = 1.0
        taken = probabilities.new_full(batch, float(steps))
        return Prediction(classify(states[..., -1, :]), taken, None, weights)


class PonderedHalting(Halting):
    """Halting by a sigmoid unit on the state, with a weighted ponder cost in the objective."""

    is_cost_optional: ClassVar[bool] = True  # a curriculum may begin without it
    adds_ponder_cost = True  # to the objective

    def __init__(self, config: Any, state: int) -> None:
        super().__init__()
        self.max_steps = config.max_steps
        self.epsilon: float | Tensor = config.epsilon  # probability that may remain at halting
        self.weight: float | Tensor = getattr(config, "ponder_weight", 0.0)
        self.unit = HaltingUnit(state, config.halting_bias)

    def probability(self, state: Tensor) -> Tensor:
        return self.unit(state)

    def distribution(self, probabilities: Tensor) -> Tensor:
        """Return the distribution over steps [batch, steps] before truncation; for ACT h_n."""
        return probabilities

    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Return where the distribution sums to 1 - epsilon or more [batch]."""
        total = self.distribution(probabilities).sum(dim=-1)
        return ~(total < per_trial(1 - self.epsilon, total))  # nan halts as well

    def losses(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Return the loss of each example in nats [batch]."""
        return cross_entropies(prediction.logits, labels)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Return mean loss + ponder weight · mean ponder cost."""
        assert prediction.ponder_cost is not None
        loss = mean_over_examples(self.losses(prediction, labels), labels)
        if not self.adds_ponder_cost:
            return loss
        cost = mean_over_examples(prediction.ponder_cost, labels)
        return loss + per_trial(self.current_ponder_weight, cost) * cost

    @property
    def current_ponder_weight(self) -> float | Tensor:
        return self.weight


def build_halting(config: HaltingConfig, state: int) -> Halting:
    """Build the halting mechanism of a configuration, over states of size `state`."""
    (halting,) = (m.halting for m in HALTINGS.values() if type(config) is m.settings)
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
    """Apply a step function repeatedly to all examples of a batch, halted or not.

    Args:
        step: maps the states of the whole batch to the next states.
        state: initial state [batch, state].
        max_steps: maximum number of steps; halting.max_steps by default.
        until_halted: stop once all examples have halted; later steps would have weight 0.
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
    """Predict after as many steps as each example needs; see `unroll` and `Halting.answer`."""
    return halting.answer(*unroll(step, state, halting), classify)


class Halted(NamedTuple):
    """Halting of a batch."""

    weights: Tensor  # of each state [batch, steps], sum 1
    steps: Tensor  # N [batch], without gradient
    remainder: Tensor  # R, the weight of step N [batch]

    @property
    def ponder_cost(self) -> Tensor:
        """N + R [batch]; its gradient reaches the halting probabilities through R alone."""
        return self.steps + self.remainder


def truncate(distribution: Tensor, epsilon: float | Tensor) -> Halted:
    """Truncate a distribution over steps, separately for each example (Graves 2016 section 2).

    N is the first n with c_n = m_1 + ... + m_n >= 1 - epsilon, or the last step (the cap). The
    weight of step n is m_n before N, R = 1 - c_{N-1} at N, and 0 after N.

    Args:
        distribution: m_n >= 0 [batch, steps]; steps after N have no effect.
        epsilon: when fused [trials].
    """
    before = torch.cumsum(distribution, dim=-1) - distribution  # c_{n-1}
    threshold = per_trial(1 - epsilon, before)
    taken = before < threshold
    # The first step is always taken; rounding in the subtraction must not prevent it.
    taken = torch.cat([torch.ones_like(taken[..., :1]), taken[..., 1:]], dim=-1)
    crossing = before + distribution >= threshold
    crossing[..., -1] = True  # the cap
    last = taken & crossing
    remainder = torch.where(last, 1 - before, torch.zeros_like(before)).sum(dim=-1)
    weights = torch.where(last, 1 - before, distribution) * taken
    return Halted(weights, taken.sum(dim=-1).to(distribution.dtype), remainder)


def halting_distribution(probabilities: Tensor) -> Tensor:
    """Return h_n (1 - h_1) ... (1 - h_{n-1}) [batch, steps], the probability of halting at n."""
    return probabilities * survival(probabilities)[1]


def survival(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Return p_n = (1 - h_1) ... (1 - h_n), and p_{n-1} with p_0 = 1, each [batch, steps]."""
    after = torch.cumprod(1 - probabilities, dim=-1)
    return after, torch.cat([torch.ones_like(after[..., :1]), after[..., :-1]], dim=-1)
