"""Iterative alternating attention over two memories, with halting (paper sections 2.2 and 3)."""

from abc import abstractmethod
from typing import Any, Literal

import torch
from torch import Tensor, nn

from actmodels.configs import LABELS
from actmodels.data.pairs import Batch
from actmodels.halting.base import Halting, Trajectory, build_halting, unroll
from actmodels.models.active_examples import ActiveExamples
from actmodels.models.pair_model import PairModel
from actmodels.modules.inference import GateDropout
from actmodels.modules.linear import Linear
from actmodels.prediction import Prediction
from actmodels.registry import HaltingConfig

Loop = Literal["running", "until_halted", "cap"]


class AlternatingAttention(PairModel):
    """Infer for as many steps as the halting asks for, and classify the states.

    step: maps states of size `state` to states. classify: an affine map by default. always_plain:
    run the plain loop, since what an example does after its own end counts, its memory changes from
    step to step, or its step is not an InferenceStep.
    """

    always_plain = False
    halting: Halting

    def __init__(
        self, halting: HaltingConfig, step: Any, state: int, classify: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.step = step
        self.halting = build_halting(halting, state)
        self.classify = classify or Linear(state, len(LABELS))

    @abstractmethod
    def memories(self, batch: Batch) -> Any:
        """The memory of the steps; dropout once, before the first step, never again."""

    def next_step_inputs(self, memories: Any, dropout: GateDropout) -> tuple[Any, GateDropout]:
        """What the next step looks at, and its dropout: the same at every step."""
        return memories, dropout

    def unroll(self, batch: Batch, steps: int, *, until_halted: bool) -> Trajectory:
        """Run at most `steps` inference steps for all examples, halted or not: the plain loop."""
        memories = self.memories(batch)
        state, dropout = self.step.start(memories)
        looked_at: tuple[Any, GateDropout] | None = None

        def step(state: Tensor) -> Tensor:
            nonlocal looked_at
            looked_at = self.next_step_inputs(*looked_at) if looked_at else (memories, dropout)
            return self.step(state, *looked_at)

        return unroll(step, state, self.halting, steps, until_halted=until_halted)

    def run(self, batch: Batch, steps: int) -> Trajectory:
        """Run the steps of examples that have not halted; gradients are formed once for all steps.

        Equals `unroll` but for rounding and for steps after an example's own end (zeros here).
        """
        memories = self.memories(batch)
        state, dropout = self.step.start(memories)
        running = ActiveExamples(batch.labels.shape, state.device)
        fused_inference = self.step.fused_inference(memories)
        with torch.no_grad():
            for number in range(steps):
                state = self.step(state, fused_inference, dropout)
                so_far = running.add(state, self.halting.probability(state))
                if number == steps - 1:
                    break
                done = self.halting.has_halted(so_far)
                if bool(done.all()):
                    break
                indices = running.indices(done)
                if indices is not None:
                    running.keep(indices)
                    fused_inference.select(indices, running.original_indices)
                    state = running.rows(state, indices)
                    dropout = running.dropout(dropout, indices)
        states, probabilities = running.trajectory(fused_inference.all_states())
        # Once more for all steps at once, for their gradients: the values, by which examples have
        # halted, stay as they are to the last bit.
        again = self.halting.probability(states)
        return Trajectory(states, probabilities + (again - again.detach()))

    def forward(self, batch: Batch, *, loop: Loop = "running") -> Prediction:
        """Score a batch by steps of `running` examples, of all `until_halted`, or to the `cap`."""
        steps = self.halting.max_steps
        if loop == "running" and not self.always_plain:
            return self.answer(*self.run(batch, steps))
        return self.answer(*self.unroll(batch, steps, until_halted=loop != "cap"))

    def answer(self, states: Tensor, probabilities: Tensor) -> Prediction:
        """What the halting makes of the steps given, the last of them a cap."""
        return self.halting.answer(states, probabilities, self.classify)
