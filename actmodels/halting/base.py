"""Base classes of halting mechanisms: when to stop, what to classify, and the ponder cost."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from actmodels.configs import FixedStepsConfig
from actmodels.data.pairs import FILLER
from actmodels.halting.states import Classify
from actmodels.halting.steps import Steps, at_first
from actmodels.modules.linear import (
    HaltingUnit,
    at_least_float32,
    has_hook,
    in_one_precision,
    per_trial,
)
from actmodels.prediction import Criterion, Loss, Prediction, Reduction
from actmodels.registry import HALTINGS, HaltingConfig, load_class


class Objective(nn.Module):
    """The training objective of a model without inference steps: mean cross-entropy."""

    # Whether batches have a leading dimension [trials], and results are per trial: set by
    # actmodels.fused. Otherwise every leading dimension is batch.
    fused = False

    def objective(
        self,
        prediction: Prediction,
        targets: Any,
        loss: Loss | None = None,
        *,
        ignore_index: int = FILLER,
        mask: Tensor | None = None,
        weights: Tensor | None = None,
        reduction: Reduction = "mean",
    ) -> Tensor:
        """Return the loss to minimize []; when fused [trials].

        Args:
            targets: labels [batch], or the targets of `loss`.
            loss: maps outputs [batch, outputs] and targets to the loss of each example [batch];
                by default the cross-entropy in nats.
            ignore_index: label of examples that do not count, as in torch's cross_entropy.
            mask: which examples count [batch], bool; padding has neither loss nor ponder cost.
            weights: weight of the loss and the ponder cost of each example [batch].
            reduction: the weighted mean; the weighted `sum`; or `none`, of each example [batch].

        Raises:
            ValueError: targets, losses, mask or weights have the wrong type, shape or range.
        """
        criterion = Criterion(targets, loss, ignore_index, self.fused, mask, weights, reduction)
        return self.total(prediction, criterion.checked(prediction.logits.shape[:-1]))

    def total(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return the reduced `losses`; mechanisms add their terms."""
        return criterion.reduce(self.losses(prediction, criterion))

    def losses(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return the loss of each example [batch]."""
        return criterion.losses(prediction.logits)

    def start_epoch(self, epoch: int | Tensor) -> None:
        """Prepare for a training epoch, counted from 1; when fused [trials]."""

    def on_update_end(
        self,
        prediction: Prediction,
        targets: Any,
        *,
        ignore_index: int = FILLER,
        mask: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> None:
        """Adapt to the prediction of a training batch after an update; args: as of `objective`."""

    @property
    def current_ponder_weight(self) -> float | Tensor | None:
        """Current weight of the ponder cost; None without one; when fused [trials]."""
        return None


class Halting(Objective):
    """Base class of halting mechanisms, for the states of any recurrent inference."""

    settings: ClassVar[type[HaltingConfig]]  # class of its configuration
    fusions: ClassVar[bool] = True  # whether fused trials may have it
    config: HaltingConfig
    max_steps: int
    reads_change: ClassVar[bool] = False  # whether `read` uses the state before the step
    reads_first_units = False  # of states with more units than halting reads
    # What `answer` needs of the steps in inference: "outputs" of each state, the "state" that
    # `newest_weight` averages, or nothing less than all states.
    keeps: ClassVar[tuple[str, ...]] = ()
    halts_by_sum: ClassVar[bool] = False  # whether the sum of h_n decides, not each of them

    def __init__(self, config: Any = None, state: int = 0) -> None:
        """Keep the configuration, of class `settings`, and the number of units of a state.

        Raises:
            TypeError: the configuration belongs to another mechanism.
        """
        super().__init__()
        self.config, self.size = config, state
        if config is None:
            return
        if type(config) is not self.settings:
            names = [type(one).__name__ for one in (self, config)]
            expected = self.settings.__name__
            raise TypeError(f"{names[0]} has a {names[1]}; expected {expected}")
        self.max_steps = getattr(config, "max_steps", 1)

    def extra_repr(self) -> str:
        return repr(self.config)

    def __init_subclass__(cls, **options: Any) -> None:
        """Take back the short ways of a class whose subclass has other methods."""
        super().__init_subclass__(**options)
        if {"answer", "distribution", "has_halted", "newest_weight"} & vars(cls).keys():
            for name in {"keeps", "halts_by_sum"} - vars(cls).keys():
                setattr(cls, name, vars(Halting)[name])

    def step_limit(self) -> int:
        """Return the maximum number of steps of the next batch."""
        return self.max_steps

    def forward(self, steps: Steps, classify: Classify) -> Prediction:
        """Return the prediction from the steps of a batch; see `answer`."""
        return self.answer(steps, classify)

    @abstractmethod
    def probability(self, state: Tensor) -> Tensor:
        """Return the halting probability h_n [batch] of a state [batch, state]."""

    def units(self, units: Tensor) -> Tensor:
        """Return the units that halting reads [batch, state].

        Raises:
            ValueError: the states have another size.
        """
        if units.shape[-1] == self.size:
            return units
        if self.reads_first_units and units.shape[-1] > self.size:
            return units[..., : self.size]
        raise ValueError(
            f"states are {list(units.shape)}; expected [..., {self.size}], as "
            f"{type(self).__name__} has state={self.size}"
        )

    def read(self, units: Tensor, before: Tensor, outputs: Callable[[], Tensor]) -> Tensor:
        """Return h_n [batch].

        Args:
            units: first tensor of the state [batch, units].
            before: that of the state before the step, if `reads_change`.
            outputs: returns the outputs of the state [batch, outputs].
        """
        return self.probability(units)

    def quick_reader(self, units: Tensor) -> Callable[[Tensor], Tensor] | None:
        """Return a function of units that equals `read` without gradients, if one is faster."""
        return None

    @abstractmethod
    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Return which examples [batch] need no further step, from h_1 ... h_n [batch, steps].

        A further step must not change their prediction: they may leave the step.
        """

    def has_halted_by(self, so_far: Tensor) -> Tensor:
        """Return `has_halted`; so_far: h_1 ... h_n, or their sum [batch] if `halts_by_sum`."""
        return self.has_halted(so_far)

    def newest_weight(self, so_far: Tensor, newest: Tensor, ends: Tensor | None) -> Tensor | None:
        """Return the weight [batch] of the newest state in the kept one; None: 0 for all.

        Args:
            so_far: see `has_halted_by`. newest: h_n [batch].
            ends: which examples may take no further step [batch]; None: none.
        """
        raise NotImplementedError(f"{type(self).__name__} keeps {self.keeps}")

    @abstractmethod
    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        """Combine the states of all steps into a prediction; examples do not affect each other.

        Args:
            steps: halting probabilities [batch, steps], and operations on the states. An example
                that has not halted halts at its last step.
            classify: maps states to outputs.
        """


class LastState(Halting):
    """Base class of mechanisms that classify the last state, without a halting probability."""

    keeps: ClassVar[tuple[str, ...]] = ("state",)

    def probability(self, state: Tensor) -> Tensor:
        """Return zeros [batch]: no example halts before the last step."""
        return at_least_float32(state.new_zeros(state.shape[:-1]))

    def has_halted(self, probabilities: Tensor) -> Tensor:
        return torch.zeros_like(probabilities[..., 0], dtype=torch.bool)

    def newest_weight(self, so_far: Tensor, newest: Tensor, ends: Tensor | None) -> Tensor | None:
        return None if ends is None else ends.to(newest.dtype)

    def exits_of(self, steps: Steps) -> Tensor | None:
        """Return at which steps [batch, steps] an example may exit; None: at its last one."""
        return None

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        weights, count = at_first(self.exits_of(steps), steps)
        state = steps.at(count)
        return Prediction(classify(state), count, None, weights, state=state)


class FixedSteps(LastState):
    """Classify the last of a fixed number of states, without a ponder cost.

    Sordoni et al. 2016; thesis figure 6.2.
    """

    settings = FixedStepsConfig

    def __init__(self, config: FixedStepsConfig, state: int) -> None:
        super().__init__(config, state)
        self.max_steps = config.steps


class PonderedHalting(Halting):
    """Halting by a sigmoid unit on the state, with a weighted ponder cost in the objective.

    state: the number of units of a state that halting reads; of a tuple it reads the first tensor.
    """

    unit: Any  # module that maps states [batch, state] to h [batch]
    is_cost_optional: ClassVar[bool] = True  # a curriculum may begin without it
    adds_ponder_cost = True  # to the objective

    def __init__(self, config: Any, state: int) -> None:
        super().__init__(config, state)
        self.epsilon: float | Tensor = config.epsilon  # probability that may remain at halting
        self.weight: float | Tensor = getattr(config, "ponder_weight", 0.0)
        self.unit = self.build_unit(config, state)

    def build_unit(self, config: Any, state: int) -> nn.Module:
        """Return the module that maps states [batch, state] to h [batch]."""
        return HaltingUnit(state, config.halting_bias)

    def probability(self, state: Tensor) -> Tensor:
        return self.unit(self.units(state))

    def quick_reader(self, units: Tensor) -> Callable[[Tensor], Tensor] | None:
        names, size = ("read", "probability"), self.size
        own = any(getattr(type(self), n) is not getattr(PonderedHalting, n) for n in names)
        if own or self.fused or not self.halts_by_sum or type(self.unit) is not HaltingUnit:
            return None
        bias, vector = self.unit.linear.bias, self.unit.linear.weight[0]
        if bias is None or has_hook(self.unit) or has_hook(self.unit.linear):
            return None
        if self.units(units).dtype != vector.dtype or not in_one_precision(vector):
            return None
        return lambda units: torch.addmv(bias, units[:, :size], vector).sigmoid_()

    def distribution(self, probabilities: Tensor) -> Tensor:
        """Return the distribution over steps [batch, steps] before truncation; for ACT h_n."""
        return probabilities

    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Return where the distribution sums to 1 - epsilon or more [batch]."""
        total = self.distribution(probabilities).sum(dim=-1)
        return ~(total < per_trial(1 - self.epsilon, total))  # nan halts as well

    def has_halted_by(self, so_far: Tensor) -> Tensor:
        if not self.halts_by_sum:
            return self.has_halted(so_far)
        # Rounding must not end the steps of an example before `truncate` does.
        return ~(so_far < per_trial((1 - self.epsilon) * (1 + 1e-6), so_far))

    def newest_weight(self, so_far: Tensor, newest: Tensor, ends: Tensor | None) -> Tensor | None:
        """Return the weight of `truncate`; so_far: the sum of h_1 ... h_n."""
        before, threshold = so_far - newest, per_trial(1 - self.epsilon, so_far)
        crossing = before + newest >= threshold
        crossing = crossing if ends is None else crossing | ends
        return torch.where(crossing, 1 - before, newest) * (before < threshold)

    def total(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return reduced loss + ponder weight · reduced ponder cost."""
        assert prediction.ponder_cost is not None
        losses = self.losses(prediction, criterion)
        loss = criterion.reduce(losses)
        if not self.adds_ponder_cost:
            return loss
        cost = criterion.reduce(prediction.ponder_cost, losses)
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


def build_halting(config: HaltingConfig, state: int) -> Halting:
    """Build the halting mechanism of a configuration, over states of size `state`."""
    (halting,) = (m.halting for m in HALTINGS.values() if type(config) is m.settings)
    return load_class(halting)(config, state)
