"""Iterative alternating attention over premise and hypothesis (paper sections 2.2 and 3)."""

from abc import abstractmethod
from typing import Any, Literal

from torch import Tensor, nn

from actmodels.by_hand.inference import TYPES, InferenceByHand
from actmodels.by_hand.parts import applies
from actmodels.data.pairs import Batch
from actmodels.halting.base import Halting, build_halting
from actmodels.halting.loop import AdaptiveLoop, DerivedStep
from actmodels.halting.steps import AllSteps, Steps
from actmodels.models.pair_model import PairModel
from actmodels.modules.inference import GateDropout
from actmodels.modules.linear import Linear
from actmodels.prediction import Prediction
from actmodels.registry import HaltingConfig

Loop = Literal["active", "until_halted", "cap"]


class AlternatingAttention(PairModel):
    """Base class of models that infer in steps until the halting mechanism stops.

    step: module (state, memory, dropout) -> state, with `start` and `attend` as `InferenceStep`.
    state: size of the state that halting reads. classify: a linear layer by default.
    """

    in_steps = True
    # False: steps see all examples, because states after halting matter or the memory changes
    drops_halted = True
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

    def derived_step(self, start: Tensor, memory: Any, dropout: GateDropout) -> DerivedStep | None:
        """Return the step with a hand-written derivative, for one batch, if one applies."""
        if not applies(self, [self.step], TYPES, start):
            return None
        return InferenceByHand(self.step, memory, dropout)

    def take_steps(
        self, batch: Batch, max_steps: int, loop: Loop, *, keeps_all: bool = False
    ) -> Steps:
        """Apply at most `max_steps` steps; see `forward`.

        keeps_all: keep all states, also where the halting mechanism needs less.
        """
        memory = self.encode(batch)
        state, dropout = self.step.start(memory)
        compact = loop == "active" and self.drops_halted
        run = AdaptiveLoop(
            self.halting,
            self.classify,
            batch.premise_mask.shape[:-1],
            max_steps=max_steps,
            compact=compact,
            freeze=False,
            until_halted=loop != "cap",
            keeps_all=keeps_all or not self.drops_halted,
        ).run
        if compact and (derived := self.derived_step(state, memory, dropout)):
            return run(derived, state)
        if compact:
            return run(lambda state, inputs: self.step(state, *inputs), state, (memory, dropout))
        inputs: tuple[Any, GateDropout] | None = None

        def step(state: Tensor) -> Tensor:
            nonlocal inputs
            inputs = self.next_step_inputs(*inputs) if inputs else (memory, dropout)
            return self.step(state, *inputs)

        return run(step, state)

    def all_steps(self, batch: Batch, steps: int) -> AllSteps:
        """Take this number of steps with all examples, halted or not."""
        taken = self.take_steps(batch, steps, "cap", keeps_all=True)
        assert isinstance(taken, AllSteps)
        return taken

    def forward(self, batch: Batch, *, loop: Loop = "active") -> Prediction:
        """Predict the labels of a batch.

        Args:
            loop: steps of `active` examples only (fastest), of all examples `until_halted`, or of
                all examples up to the `cap` (no control flow that depends on data).
        """
        return self.answer(self.take_steps(batch, self.halting.step_limit(), loop))

    def answer(self, steps: Steps) -> Prediction:
        """Return the prediction from the steps of a batch."""
        prediction: Prediction = self.halting(steps, self.classify)
        return prediction
