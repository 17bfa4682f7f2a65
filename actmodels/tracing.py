"""Traces of a trained model's inference steps or attention, and the fixed-step ablation.

Traces are those of paper fig. 1 and thesis fig. 6.6-6.8, A.1-A.3; a model of Rocktäschel et al.
(2016) has a step for each word that attends. The ablation is that of paper
table 1 and appendix A, which fixes "the maximum number of inference steps at test time". That has
two readings: `state` classifies the k-th state alone; `capped` halts as trained, but after at most
k steps (for ACT step k gets the remainder).
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from actmodels.configs import InputConfig
from actmodels.data.pairs import BATCH_SIZE, Batch, PairTensors, collate
from actmodels.halting.loop import AdaptiveLoop
from actmodels.halting.steps import AllSteps
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.conditional import ConditionalAttention, WordByWordAttention
from actmodels.modules.inference import Attended

TRACED = (AlternatingAttention, ConditionalAttention)  # models that `trace` reads


class Trace(NamedTuple):
    """All steps until every example of a batch has halted."""

    halting: Tensor  # halting probabilities [batch, steps]
    weights: Tensor  # weight of each step in the answer [batch, steps], 0 after halting
    classes: Tensor  # class probabilities of each state alone [batch, steps, labels]
    premise: Tensor  # attention weights [batch, steps, tokens], 0 at padding
    hypothesis: Tensor  # attention weights [batch, steps, tokens], 0 at padding
    answer: Tensor  # class probabilities of the model [batch, labels]
    steps: Tensor  # N [batch]


@torch.no_grad()
def trace(model: AlternatingAttention | ConditionalAttention, batch: Batch) -> Trace:
    """Record the inference steps of a model on a batch, without dropout."""
    model.eval()
    if isinstance(model, ConditionalAttention):
        return _trace_words(model, batch)
    memory = model.encode(batch)
    attention: list[Attended] = []

    def step(state: Tensor) -> Tensor:
        attention.append(model.step.attend(state, memory))
        return model.step(state, memory, dropout)

    state, dropout = model.step.start(memory)
    loop = AdaptiveLoop(
        model.halting,
        model.classify,
        batch.premise_mask.shape[:-1],
        max_steps=model.halting.max_steps,
        freeze=False,
        keeps_all=True,
    )
    steps = loop.run(step, state)
    assert isinstance(steps, AllSteps)
    answer = model.answer(steps)
    assert answer.weights is not None and answer.steps is not None
    return Trace(
        steps.probabilities,
        answer.weights,
        torch.softmax(model.classify(steps.states), dim=2),
        torch.stack([attended.premise_weights for attended in attention], dim=1),
        torch.stack([attended.hypothesis_weights for attended in attention], dim=1),
        torch.softmax(answer.logits, dim=1),
        answer.steps,
    )


def _trace_words(model: ConditionalAttention, batch: Batch) -> Trace:
    """Record the words of the hypothesis that attend as steps; the last one has all the weight."""
    pair = model.encode(batch)
    states, weights = model.attend.by_word(pair)
    steps, outputs = batch.hypothesis_mask.sum(dim=1), pair.hypothesis
    words = torch.eye(outputs.shape[1]).to(outputs).expand(len(steps), -1, -1)
    if not isinstance(model, WordByWordAttention):  # the last word alone attends
        words = one_hot(steps - 1, outputs.shape[1]).to(outputs)[:, None]
        steps, outputs = torch.ones_like(steps), pair.last[:, None]
    last = one_hot(steps - 1, len(states)).to(outputs)
    attended = torch.stack(states, dim=1)
    classes = torch.softmax(model.classify(model.combine(attended, outputs)), dim=2)
    answer = (last[:, None] @ classes)[:, 0]
    return Trace(last, last, classes, torch.stack(weights, dim=1), words, answer, steps)


Reading = Literal["state", "capped", "adaptive"]


class AblationRow(NamedTuple):
    """Result of one reading."""

    reading: Reading
    steps: int | None  # k; None for `adaptive`, the model as trained
    hits: Tensor  # whether each pair is classified correctly, bool [pairs], on the CPU
    mean_steps: float

    @property
    def accuracy(self) -> float:
        """Share of correctly classified pairs."""
        return int(self.hits.sum()) / len(self.hits)


@torch.no_grad()
def ablate_steps(
    model: AlternatingAttention, pairs: PairTensors, config: InputConfig, steps: list[int]
) -> list[AblationRow]:
    """Evaluate a model with both readings for each k in `steps`, and as trained.

    Returns:
        Rows `state` for each k, `capped` for each k, `adaptive`.
    """
    model.eval()
    device = next(model.parameters()).device
    max_steps = model.halting.max_steps
    readings: list[tuple[Reading, int | None]] = [("state", k) for k in steps]
    readings += [*(("capped", k) for k in steps), ("adaptive", None)]
    hits = {reading: torch.zeros(len(pairs), dtype=torch.bool) for reading in readings}
    total_steps = dict.fromkeys(readings, 0.0)
    for index in model.batches(pairs, BATCH_SIZE):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        taken = model.all_steps(batch, max(max_steps, *steps))
        for reading, k in readings:
            last = k or max_steps
            if reading == "state":
                logits = model.classify(taken.states[:, last - 1])
                total_steps[reading, k] += last * len(index)
            else:
                answer = model.answer(taken.up_to(last))
                assert answer.steps is not None
                logits = answer.logits
                total_steps[reading, k] += float(answer.steps.sum())
            hits[reading, k][index] = (logits.argmax(dim=1) == batch.labels).cpu()
    return [AblationRow(*key, hits[key], total_steps[key] / len(pairs)) for key in readings]
