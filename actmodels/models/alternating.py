"""Iterative alternating attention over premise and hypothesis (paper sections 2.2 and 3)."""

from abc import abstractmethod
from typing import Any, Literal

from torch import Tensor, nn

from actmodels.data.pairs import Batch
from actmodels.halting.base import Halting, build_halting
from actmodels.halting.loop import Trajectory, unroll
from actmodels.models.active_examples import unroll_active
from actmodels.models.pair_model import PairModel
from actmodels.modules.inference import GateDropout
from actmodels.modules.linear import Linear
from actmodels.precision import is_autocast
from actmodels.prediction import Prediction
from actmodels.registry import HaltingConfig

Loop = Literal["active", "until_halted", "cap"]


class AlternatingAttention(PairModel):
    """Base class of models that infer in steps until the halting mechanism stops.

    step: module (state, memory, dropout) -> state, with `start` and `attend` as `InferenceStep`.
    state: size of the state that halting reads. classify: a linear layer by default.
    """

    # Always use `unroll`, because states after halting matter, the memory changes between steps, or
    # the step is not an InferenceStep.
    requires_unroll = False
    halting: Halting

    def __init__(
        self,
        halting: HaltingConfig,
        step: Any,
        state: int,
        classes: int,
        classify: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.step = step
        self.halting = build_halting(halting, state)
        self.classify = classify or Linear(state, classes)

    @abstractmethod
    def encode(self, batch: Batch) -> Any:
        """Return the memory of the steps; its dropout mask is the same at all steps."""

    def next_step_inputs(self, memory: Any, dropout: GateDropout) -> tuple[Any, GateDropout]:
        """Return memory and dropout of the next step; by default the same at every step."""
        return memory, dropout

    def unroll(self, batch: Batch, steps: int, *, until_halted: bool) -> Trajectory[Tensor]:
        """Apply at most `steps` steps to all examples, halted or not; see `halting.loop.unroll`."""
        memory = self.encode(batch)
        state, dropout = self.step.start(memory)
        inputs: tuple[Any, GateDropout] | None = None

        def step(state: Tensor) -> Tensor:
            nonlocal inputs
            inputs = self.next_step_inputs(*inputs) if inputs else (memory, dropout)
            return self.step(state, *inputs)

        loop = (step, state, self.halting, self.classify, steps)
        return unroll(*loop, until_halted=until_halted)

    def unroll_active(self, batch: Batch, steps: int) -> Trajectory[Tensor]:
        """Apply at most `steps` steps to the active examples, with one backward pass for all.

        Equals `unroll` up to rounding, except for steps after halting, which are zeros here.
        """
        memory = self.encode(batch)
        start, dropout = self.step.start(memory)
        computation = self.step.by_hand(memory, dropout, start)
        loop = (start, self.halting, self.classify, steps, batch.labels.shape)
        return unroll_active(
            computation, lambda state: self.step(state, computation, dropout), *loop
        )

    def forward(self, batch: Batch, *, loop: Loop = "active") -> Prediction:
        """Predict the labels of a batch.

        Args:
            loop: steps of `active` examples only (fastest), of all examples `until_halted`, or of
                all examples up to the `cap` (no control flow that depends on data).
        """
        steps = self.halting.max_steps
        by_hand = not self.requires_unroll and not is_autocast(next(self.parameters()))
        if loop == "active" and by_hand:
            return self.answer(*self.unroll_active(batch, steps))
        return self.answer(*self.unroll(batch, steps, until_halted=loop != "cap"))

    def answer(self, states: Tensor, probabilities: Tensor) -> Prediction:
        """Return the prediction from states [batch, steps, state]; see `Halting.answer`."""
        return self.halting.answer(states, probabilities, self.classify)
