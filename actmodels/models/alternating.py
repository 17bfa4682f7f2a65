"""Iterative alternating attention over two memories, with halting (paper sections 2.2 and 3).

The models differ in what they remember of the sentences; how they infer is the same.
"""

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.data.batching import Batch
from actmodels.data.pairs import LABELS
from actmodels.halting.build import build_halting
from actmodels.models.pair_model import PairModel
from actmodels.models.prediction import Prediction
from actmodels.modules.inference import GateDropout, InferenceStep, Memories
from actmodels.registry import HaltingConfig


class Trajectory(NamedTuple):
    """All inference steps of a batch.

    states: [batch, steps, state]. probabilities: halting probabilities [batch, steps].
    """

    states: Tensor
    probabilities: Tensor


class AlternatingAttention(PairModel):
    """Infer for as many steps as the halting asks for, and classify what it makes of the states.

    Args:
        memory: size m of a memory vector.
        state: size s of the inference GRU. gate: hidden units of each gate.
    """

    def __init__(
        self, halting: HaltingConfig, *, memory: int, state: int, gate: int, dropout: float
    ) -> None:
        super().__init__()
        self.step = InferenceStep(memory, state, gate, dropout)
        self.halting = build_halting(halting, state)
        self.classify = nn.Linear(state, len(LABELS))

    @abstractmethod
    def memories(self, batch: Batch) -> Memories:
        """What the steps look at; dropout once, before the first step, never again."""

    def carried(self, memories: Memories, dropout: GateDropout) -> tuple[Memories, GateDropout]:
        """What the next step looks at, and its dropout: the same at every step."""
        return memories, dropout

    def unroll(self, batch: Batch, steps: int, *, until_halted: bool) -> Trajectory:
        """Run the inference steps.

        Args:
            steps: how many at most.
            until_halted: stop once every example has halted; the steps left out would weigh 0.
        """
        memories = self.memories(batch)
        state, dropout = self.step.start(memories)
        states: list[Tensor] = []
        probabilities: list[Tensor] = []
        for number in range(steps):
            if number:
                memories, dropout = self.carried(memories, dropout)
            state = self.step(state, memories, dropout)
            states.append(state)
            probabilities.append(self.halting.probability(state))
            if until_halted:
                so_far = torch.stack(probabilities, dim=1).detach()
                if bool(self.halting.done(so_far).all()):
                    break
        return Trajectory(torch.stack(states, dim=1), torch.stack(probabilities, dim=1))

    def forward(self, batch: Batch, *, until_halted: bool = True) -> Prediction:
        """Score a batch; see Prediction for shapes.

        Args:
            until_halted: False always runs max_steps, with the same result: torch.func.vmap
                cannot follow a loop whose length depends on the data.
        """
        trajectory = self.unroll(batch, self.halting.max_steps, until_halted=until_halted)
        return self.answer(*trajectory)

    def answer(self, states: Tensor, probabilities: Tensor) -> Prediction:
        """What the halting makes of the steps given, the last of them a cap."""
        return self.halting.answer(states, probabilities, self.classify)

    def start_epoch(self, epoch: int) -> None:
        """Tell the halting."""
        self.halting.start_epoch(epoch)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """That of the halting."""
        return self.halting.objective(prediction, labels)

    def adapt(self, prediction: Prediction) -> None:
        """Tell the halting."""
        self.halting.adapt(prediction)

    @property
    def ponder_weight(self) -> float | None:
        """That of the halting now."""
        return self.halting.current_ponder_weight
