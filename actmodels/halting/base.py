"""Base classes of halting mechanisms: when to stop, what to classify, and the ponder cost."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from actmodels.configs import FixedStepsConfig
from actmodels.data.pairs import FILLER
from actmodels.halting.states import Classify, each
from actmodels.modules.linear import HaltingUnit, per_trial
from actmodels.precision import HALF, at_least_float32
from actmodels.prediction import Criterion, Loss, Prediction
from actmodels.registry import HALTINGS, HaltingConfig, load_class


class Objective(nn.Module):
    """The training objective of a model without inference steps: mean cross-entropy."""

    # Whether batches have a leading dimension [trials], and results are per trial: set by
    # actmodels.fused.stack. Otherwise every leading dimension is batch.
    fused = False

    def objective(
        self,
        prediction: Prediction,
        targets: Tensor,
        loss: Loss | None = None,
        *,
        ignore_index: int = FILLER,
    ) -> Tensor:
        """Return the loss to minimize []; when fused [trials].

        Args:
            targets: labels [batch], or the targets of `loss`.
            loss: maps outputs [batch, outputs] and targets to the loss of each example [batch];
                by default the cross-entropy in nats.
            ignore_index: label of examples that do not count, as in torch's cross_entropy.

        Raises:
            ValueError: targets or losses have the wrong type, shape or range.
        """
        return self.total(prediction, Criterion(targets, loss, ignore_index, self.fused))

    def total(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return the mean of `losses`; mechanisms add their terms."""
        return criterion.mean(self.losses(prediction, criterion))

    def losses(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return the loss of each example [batch]."""
        return criterion.losses(prediction.logits)

    def start_epoch(self, epoch: int | Tensor) -> None:
        """Prepare for a training epoch, counted from 1; when fused [trials]."""

    def on_update_end(
        self, prediction: Prediction, targets: Tensor, *, ignore_index: int = FILLER
    ) -> None:
        """Adapt to the prediction of the training batch after an optimizer update."""

    @property
    def current_ponder_weight(self) -> float | Tensor | None:
        """Current weight of the ponder cost; None without one; when fused [trials]."""
        return None


class Halting(Objective):
    """Base class of halting mechanisms, for the states of any recurrent inference."""

    max_steps: int
    reads_change: ClassVar[bool] = False  # whether `read` uses the state before the step
    reads_first_units = False  # of states with more units than halting reads
    # Whether `answer` reads states only through `mean_state`, which may then be `ActiveStates`.
    mixes_states: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Assume of another `answer` that it reads each state."""
        super().__init_subclass__(**options)
        if "answer" in vars(cls) and "mixes_states" not in vars(cls):
            cls.mixes_states = False

    @abstractmethod
    def probability(self, state: Tensor) -> Tensor:
        """Return the halting probability h_n [batch] of a state [batch, state]."""

    def read(self, state: Any, before: Any, classify: Classify) -> Tensor:
        """Return h_n [batch] of a state; before: the state before the step, if `reads_change`."""
        return self.probability(state if isinstance(state, Tensor) else state[0])

    @abstractmethod
    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Return which examples [batch] need no further step, from h_1 ... h_n [batch, steps]."""

    @abstractmethod
    def answer(self, states: Any, probabilities: Tensor, classify: Classify) -> Prediction:
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
        self.max_steps = require(config, FixedStepsConfig, self).steps

    def probability(self, state: Tensor) -> Tensor:
        """Return zeros [batch]: no example halts before the last step."""
        return at_least_float32(state.new_zeros(state.shape[:-1]))

    def has_halted(self, probabilities: Tensor) -> Tensor:
        *batch, steps = probabilities.shape
        return torch.full(batch, steps >= self.max_steps, device=probabilities.device)

    def answer(self, states: Any, probabilities: Tensor, classify: Classify) -> Prediction:
        *batch, steps = probabilities.shape
        weights = torch.zeros_like(probabilities)
        weights[..., -1] = 1.0
        taken = probabilities.new_full(batch, float(steps))
        last = each(lambda part: part[..., -1, :], states)
        return Prediction(classify(last), taken, None, weights, state=last)


class PonderedHalting(Halting):
    """Halting by a sigmoid unit on the state, with a weighted ponder cost in the objective.

    state: the number of units of a state that halting reads; of a tuple it reads the first tensor.
    """

    settings: ClassVar[type[HaltingConfig]]  # class of its configuration
    unit: Any  # module that maps states [batch, state] to h [batch]
    is_cost_optional: ClassVar[bool] = True  # a curriculum may begin without it
    adds_ponder_cost = True  # to the objective

    def __init__(self, config: Any, state: int) -> None:
        super().__init__()
        self.max_steps = require(config, self.settings, self).max_steps
        self.epsilon: float | Tensor = config.epsilon  # probability that may remain at halting
        self.weight: float | Tensor = getattr(config, "ponder_weight", 0.0)
        self.size = state
        self.unit = self.build_unit(config, state)

    def build_unit(self, config: Any, state: int) -> nn.Module:
        """Return the module that maps states [batch, state] to h [batch]."""
        return HaltingUnit(state, config.halting_bias)

    def units(self, state: Any) -> Tensor:
        """Return the units that halting reads [batch, state].

        Raises:
            ValueError: the states have another size.
        """
        read: Tensor = state if isinstance(state, Tensor) else state[0]
        if read.shape[-1] == self.size:
            return read
        if self.reads_first_units and read.shape[-1] > self.size:
            return read[..., : self.size]
        raise ValueError(
            f"states are {list(read.shape)}; expected [..., {self.size}], as "
            f"{type(self).__name__} has state={self.size}"
        )

    def probability(self, state: Tensor) -> Tensor:
        return self.unit(self.units(state))

    def summed_unit(self) -> HaltingUnit | None:
        """Return the unit if examples halt where the sum of its h_n reaches 1 - epsilon."""
        names = ("read", "probability", "distribution", "has_halted")
        same = all(getattr(type(self), name) is getattr(PonderedHalting, name) for name in names)
        summed = same and not self.fused and type(self.unit) is HaltingUnit
        return self.unit if summed and self.unit.linear.weight.dtype not in HALF else None

    def distribution(self, probabilities: Tensor) -> Tensor:
        """Return the distribution over steps [batch, steps] before truncation; for ACT h_n."""
        return probabilities

    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Return where the distribution sums to 1 - epsilon or more [batch]."""
        total = self.distribution(probabilities).sum(dim=-1)
        return ~(total < per_trial(1 - self.epsilon, total))  # nan halts as well

    def total(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return mean loss + ponder weight · mean ponder cost."""
        assert prediction.ponder_cost is not None
        loss = criterion.mean(self.losses(prediction, criterion))
        if not self.adds_ponder_cost:
            return loss
        cost = criterion.mean(prediction.ponder_cost)
        return loss + per_trial(self.current_ponder_weight, cost) * cost

    @property
    def current_ponder_weight(self) -> float | Tensor:
        return self.weight


class AnsweringHalting(PonderedHalting):
    """Halting that mixes the answers of all states instead of the states.

    classes: whether answers are logits of classes; other outputs are mixed as they are.
    """

    def __init__(self, config: Any, state: int, *, classes: bool = True) -> None:
        super().__init__(config, state)
        self.classes = classes

    def odds(self, outputs: Tensor) -> Tensor:
        """Return what is mixed: class probabilities, or the outputs [..., outputs]."""
        outputs = at_least_float32(outputs)
        return torch.softmax(outputs, dim=-1) if self.classes else outputs

    def logits(self, mixture: Tensor) -> Tensor:
        """Return a mixture of `odds` as logits."""
        if not self.classes:
            return mixture
        return torch.log(mixture.clamp_min(torch.finfo(mixture.dtype).tiny))


def require(config: Any, settings: type[HaltingConfig], halting: Halting) -> HaltingConfig:
    """Return a configuration of the right class.

    Raises:
        TypeError: it belongs to another mechanism.
    """
    if not isinstance(config, settings):
        raise TypeError(
            f"{type(halting).__name__} has a {type(config).__name__}; expected {settings.__name__}"
        )
    return config


def build_halting(config: HaltingConfig, state: int) -> Halting:
    """Build the halting mechanism of a configuration, over states of size `state`."""
    (halting,) = (m.halting for m in HALTINGS.values() if type(config) is m.settings)
    return load_class(halting)(config, state)


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
