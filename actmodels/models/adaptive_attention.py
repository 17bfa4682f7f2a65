"""Adaptive Attention: alternating attention with ACT (paper section 3; the thesis' ADA)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.config import AdaptiveAttentionConfig
from actmodels.data.batching import Batch
from actmodels.data.pairs import LABELS
from actmodels.models.prediction import Prediction
from actmodels.modules.alignment import SoftAlignment
from actmodels.modules.halting import HaltingUnit, act
from actmodels.modules.inference import InferenceStep, Memories
from actmodels.modules.initialisation import initialise
from actmodels.modules.projection import ProjectedWords


class Trajectory(NamedTuple):
    """All inference steps of a batch.

    states: [batch, steps, state]. probabilities: halting probabilities [batch, steps].
    """

    states: Tensor
    probabilities: Tensor


class AdaptiveAttention(nn.Module):
    """Infer for as many steps as each example asks for, and classify the weighted mean state.

    Reads the paper's equations, not the 2016 code: bilinear attention, two-layer gates,
    memories of twice the width; 982,716 trained parameters at width 128, state 200, gate 128.

    Args:
        vectors: frozen input rows [rows, dimensions], see actmodels.data.embeddings.
    """

    def __init__(self, config: AdaptiveAttentionConfig, vectors: Tensor) -> None:
        super().__init__()
        self.config = config
        width, memory = config.width, 2 * config.width
        self.words = ProjectedWords(vectors, width, tanh=True)
        self.alignment = SoftAlignment(width, config.dropout)
        self.memory_dropout = nn.Dropout(config.dropout)
        self.step = InferenceStep(memory, config.state_size, config.gate_size, config.dropout)
        self.halting = HaltingUnit(config.state_size, config.halting_bias)
        self.classify = nn.Linear(config.state_size, len(LABELS))
        initialise(self, config.init, config.init_std)

    def memories(self, batch: Batch) -> Memories:
        """Align the sentences; dropout once, before the first step, never again."""
        premise, hypothesis = self.words(batch.premise), self.words(batch.hypothesis)
        masks = (batch.premise_mask, batch.hypothesis_mask)
        beta, alpha = self.alignment(premise, hypothesis, *masks)
        return Memories(
            self.memory_dropout(torch.cat([beta, premise], dim=2)),
            batch.premise_mask,
            self.memory_dropout(torch.cat([alpha, hypothesis], dim=2)),
            batch.hypothesis_mask,
        )

    def unroll(self, batch: Batch, steps: int, *, until_halted: bool) -> Trajectory:
        """Run the inference steps.

        Args:
            steps: how many at most.
            until_halted: stop once every example has halted; the steps left out would weigh 0.
        """
        memories = self.memories(batch)
        state, dropout = self.step.start(memories)
        states, probabilities = [], []
        total = state.new_zeros(len(state))
        for _ in range(steps):
            state = self.step(state, memories, dropout)
            states.append(state)
            probabilities.append(self.halting(state))
            if until_halted:
                total = total + probabilities[-1].detach()
                if bool((total >= 1 - self.config.epsilon).all()):
                    break
        return Trajectory(torch.stack(states, dim=1), torch.stack(probabilities, dim=1))

    def forward(self, batch: Batch, *, until_halted: bool = True) -> Prediction:
        """Score a batch; see Prediction for shapes.

        Args:
            until_halted: False always runs max_steps, with the same result: torch.func.vmap
                cannot follow a loop whose length depends on the data.
        """
        states, probabilities = self.unroll(batch, self.config.max_steps, until_halted=until_halted)
        halted = act(probabilities, self.config.epsilon)
        logits = self.classify_mean(states, halted.weights)
        return Prediction(logits, halted.steps, halted.ponder_cost)

    def classify_mean(self, states: Tensor, weights: Tensor) -> Tensor:
        """Score the weighted mean of states [batch, steps, state] by weights [batch, steps]."""
        logits: Tensor = self.classify((weights[:, None, :] @ states).squeeze(1))
        return logits
