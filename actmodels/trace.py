"""What a model that infers in steps does at each step (paper fig. 1; thesis fig. 6.6-6.8, A.1-A.3).

Run on the model as it was trained: the pair is scored just as in evaluation.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import Batch
from actmodels.models.alternating import AlternatingAttention


class Trace(NamedTuple):
    """All steps until every example of a batch has halted; those after an example's own weigh 0.

    halting: halting probability of each step [batch, steps].
    weights: what each step counts in the answer [batch, steps], sum 1.
    classes: probabilities if each state were classified by itself [batch, steps, labels].
    premise, hypothesis: attention weights [batch, steps, tokens], sum 1, 0 where padded.
    answer: probabilities of the model's own answer [batch, labels].
    steps: steps taken [batch].
    """

    halting: Tensor
    weights: Tensor
    classes: Tensor
    premise: Tensor
    hypothesis: Tensor
    answer: Tensor
    steps: Tensor


@torch.no_grad()
def trace(model: AlternatingAttention, batch: Batch) -> Trace:
    """Follow a batch through the steps of a model, without dropout."""
    model.eval()
    memories = model.memories(batch)
    state, dropout = model.step.start(memories)
    states, halting, premise, hypothesis = [], [], [], []
    for _ in range(model.halting.max_steps):
        attended = model.step.attend(state, memories)
        state = model.step(state, memories, dropout)
        states.append(state)
        halting.append(model.halting.probability(state))
        premise.append(attended.premise_weights)
        hypothesis.append(attended.hypothesis_weights)
        if bool(model.halting.done(torch.stack(halting, dim=1)).all()):
            break
    all_states, probabilities = torch.stack(states, dim=1), torch.stack(halting, dim=1)
    answer = model.answer(all_states, probabilities)
    assert answer.weights is not None and answer.steps is not None
    return Trace(
        probabilities,
        answer.weights,
        torch.softmax(model.classify(all_states), dim=2),
        torch.stack(premise, dim=1),
        torch.stack(hypothesis, dim=1),
        torch.softmax(answer.logits, dim=1),
        answer.steps,
    )
