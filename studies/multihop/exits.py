"""The answers of one trained network when a pair leaves it at different steps.

A network may lose accuracy beyond the trained depths because its step fails, or because it halts at
the wrong step. One forward pass of all steps separates the two: `hops` is the state after as many
steps as hops, `best k` that after the best common number of steps of each depth.
"""

import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from actmodels.configs import InputConfig
from actmodels.data.pairs import BATCH_SIZE, PairTensors, collate
from actmodels.halting.base import FixedSteps
from actmodels.halting.early_exit import EarlyExit
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel
from actmodels.modules.recurrent import rows
from actmodels.training import Evaluation, evaluate
from studies.multihop.training import in_steps


class AnswersByStep(NamedTuple):
    """All states of a model for each pair, in the order of the split."""

    halted: Evaluation  # as the halting mechanism answers
    logits: Tensor  # of each state [pairs, steps, labels]
    changes: Tensor  # |s_n - s_(n-1)| / |s_n| [pairs, steps]; infinite for the first
    units: Tensor  # halting probability of each step, or what an exit reads [pairs, steps]

    @property
    def right(self) -> Tensor:
        """Whether the answer of each state is right [pairs, steps]."""
        return self.logits.argmax(dim=-1) == self.halted.labels[:, None]

    def after(self, steps: Tensor) -> Evaluation:
        """Return the answers of the states after these numbers of steps [pairs], from 1."""
        logits = rows(self.logits, steps[:, None] - 1)[:, 0]
        return self.halted._replace(logits=logits, steps=steps, ponder_cost=None)

    def first(self, halts: Tensor) -> Evaluation:
        """Return the answers at the first step that `halts` [pairs, steps], else at the last."""
        last = torch.full_like(halts[:, 0], halts.shape[1], dtype=torch.long)
        return self.after(torch.where(halts.any(dim=1), halts.int().argmax(dim=1) + 1, last))


def evaluate_halted(
    model: PairModel, pairs: PairTensors, config: InputConfig, max_steps: int
) -> Evaluation:
    """Evaluate a model as it halts, in at most `max_steps` steps; fixed steps stay so."""
    takes_steps = isinstance(model, AlternatingAttention)
    if not takes_steps or isinstance(model.halting, FixedSteps):
        return evaluate(model, pairs, config)
    with in_steps(model.halting, max_steps):
        return evaluate(model, pairs, config)


@torch.no_grad()
def evaluate_all_steps(
    model: AlternatingAttention, pairs: PairTensors, config: InputConfig, max_steps: int
) -> AnswersByStep:
    """Evaluate all states up to `max_steps`, also the maximum of an adaptive model's own steps."""
    model.eval()
    halting = copy.copy(model.halting)  # with the model's parameters; the model keeps its maximum
    if not isinstance(halting, FixedSteps):
        halting.max_steps = max_steps
    own, parts, scored = halting.max_steps, [], []
    device = next(model.parameters()).device
    for index in model.batches(pairs, BATCH_SIZE):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        taken = model.all_steps(batch, max(max_steps, own))
        answer, states = halting.answer(taken.up_to(own), model.classify), taken.states
        norms = torch.linalg.vector_norm(states[:, 1:], dim=-1)
        moved = torch.linalg.vector_norm(states.diff(dim=1), dim=-1) / norms
        changes = torch.cat([torch.full_like(moved[:, :1], torch.inf), moved], dim=1)
        assert answer.steps is not None
        each = (model.classify(states), changes, taken.probabilities)
        parts.append((answer.logits, answer.steps, *each))
        scored.append(index)
    rows, order = torch.sort(torch.cat(scored))
    logits, steps, *others = (torch.cat(part).cpu()[order] for part in zip(*parts, strict=True))
    return AnswersByStep(Evaluation(rows, logits, pairs.labels[rows], steps, None), *others)


def repeats(classes: Tensor) -> Tensor:
    """Count how many states in a row have the class of each state [pairs, steps]."""
    counts = [torch.ones_like(classes[:, 0])]
    for same in (classes[:, 1:] == classes[:, :-1]).unbind(dim=1):
        counts.append(torch.where(same, counts[-1] + 1, 1))
    return torch.stack(counts, dim=1)


def exits(steps: AnswersByStep, hops: Tensor, rules: Any) -> dict[str, Evaluation]:
    """Return the answers by exit rule.

    Args:
        hops: of each pair [pairs].
        rules: see `studies.multihop.section.Exits`.
    """
    confidence, last = torch.softmax(steps.logits, dim=-1).amax(dim=-1), steps.logits.shape[1]
    same, by_depth = repeats(steps.logits.argmax(dim=-1)), torch.zeros_like(hops)
    for depth in hops.unique():
        right = steps.right[hops == depth].double().mean(dim=0)
        by_depth[hops == depth] = right.argmax() + 1
    return {
        "hops": steps.after(hops.clamp(max=last)),
        "best k": steps.after(by_depth),
        **{f"confidence {c:g}": steps.first(confidence >= c) for c in rules.confidence},
        **{f"patience {count}": steps.first(same >= count) for count in rules.patience},
        **{f"change {c:g}": steps.first(steps.changes <= c) for c in rules.change},
        **{f"unit {c:g}": steps.first(steps.units >= c) for c in rules.unit},
    }


@torch.no_grad()
def multiply_adds(
    model: Any, pairs: PairTensors, row: int, config: InputConfig
) -> tuple[float, float]:
    """Count the multiply-adds of matrix products for one pair, as (encoding, each step).

    A step includes the halting unit and the classifier, which most exit rules read at each step.
    """
    batch = collate(pairs, torch.tensor([row]), null_token=config.null_token, device="cpu")

    def count(steps: int) -> float:
        with FlopCounterMode(display=False) as counter:
            if isinstance(model, AlternatingAttention):
                states = model.all_steps(batch, steps).states
                if not isinstance(model.halting, EarlyExit):  # it has classified each state
                    model.classify(states)
            else:
                model(batch)
        return counter.get_total_flops() / 2

    one, step = count(1), count(2) - count(1)
    return one - step, step
