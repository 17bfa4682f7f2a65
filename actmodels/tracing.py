"""Trace of a trained model's inference steps, and ablation of their number.

The trace (paper fig. 1; thesis fig. 6.6-6.8, A.1-A.3) scores a pair as evaluation does. The
ablation is that of appendix A and table 1. The paper fixes "the maximum number of inference steps
at test time", which reads two ways: `state` classifies the k-th state alone; `capped` halts as
trained but after k steps at the latest (for ACT the remainder falls on step k).
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from actmodels.configs import InputConfig
from actmodels.data.pairs import Batch, PairTensors, collate
from actmodels.halting.base import unroll
from actmodels.models.alternating import AlternatingAttention
from actmodels.modules.inference import Attended


class Trace(NamedTuple):
    """All steps until every example of a batch has halted; those after an example's own weigh 0.

    halting, weights: probability and share of the answer of each step [batch, steps].
    classes: probabilities of each state classified alone [batch, steps, labels].
    premise, hypothesis: attention weights [batch, steps, tokens], 0 where padded.
    answer: probabilities of the model's answer [batch, labels]. steps: N [batch].
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
    seen: list[Attended] = []

    def step(state: Tensor) -> Tensor:
        seen.append(model.step.attend(state, memories))
        return model.step(state, memories, dropout)

    states, probabilities = unroll(step, state, model.halting)
    answer = model.answer(states, probabilities)
    assert answer.weights is not None and answer.steps is not None
    return Trace(
        probabilities,
        answer.weights,
        torch.softmax(model.classify(states), dim=2),
        torch.stack([attended.premise_weights for attended in seen], dim=1),
        torch.stack([attended.hypothesis_weights for attended in seen], dim=1),
        torch.softmax(answer.logits, dim=1),
        answer.steps,
    )


HowRead = Literal["state", "capped", "adaptive"]


class AblationRow(NamedTuple):
    """A reading's right pairs `hits` (bool [pairs], CPU) and mean steps; steps None: adaptive."""

    reading: HowRead
    steps: int | None
    hits: Tensor
    mean_steps: float

    @property
    def accuracy(self) -> float:
        """The share of pairs that are right."""
        return int(self.hits.sum()) / len(self.hits)


@torch.no_grad()
def ablate_steps(
    model: AlternatingAttention,
    pairs: PairTensors,
    config: InputConfig,
    steps: list[int],
    batch_size: int = 256,
) -> list[AblationRow]:
    """Measure both readings at every number of steps, and the adaptive model beside them."""
    model.eval()
    device = next(model.parameters()).device
    max_steps = model.halting.max_steps
    readings: list[tuple[HowRead, int | None]] = [("state", k) for k in steps]
    readings += [*(("capped", k) for k in steps), ("adaptive", None)]
    hits = {reading: torch.zeros(len(pairs), dtype=torch.bool) for reading in readings}
    taken = dict.fromkeys(readings, 0.0)
    for index in model.batches(pairs, batch_size):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        states, probabilities = model.unroll(batch, max(max_steps, *steps), until_halted=False)
        for reading, k in readings:
            last = k or max_steps
            if reading == "state":
                logits = model.classify(states[:, last - 1])
                taken[reading, k] += last * len(index)
            else:
                answer = model.answer(states[:, :last], probabilities[:, :last])
                assert answer.steps is not None
                logits = answer.logits
                taken[reading, k] += float(answer.steps.sum())
            hits[reading, k][index] = (logits.argmax(dim=1) == batch.labels).cpu()
    return [AblationRow(*of, hits[of], taken[of] / len(pairs)) for of in readings]
