"""Measuring a network on sequences, and what its training minimises (Graves 2016 section 2.1)."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.figures import EpochMeans, Figures, Marks
from actmodels.halting.family import Halting
from actmodels.sequences.act_rnn import ActRnn, Pondered
from actmodels.sequences.task import Marked, Outputs, SequenceBatch


class Scored(NamedTuple):
    """A batch with its marks; zeros and false where there is no target [batch, time].

    losses: joint cross-entropy in nats. wrong: some head is wrong.
    """

    losses: Tensor
    wrong: Tensor


def score(outputs: Outputs, logits: Tensor, batch: SequenceBatch) -> Scored:
    """Compare logits [batch, time, outputs] with the targets."""
    losses = outputs.losses(logits, batch.targets) * batch.target_mask
    wrong = (outputs.decisions(logits) != batch.targets).any(dim=-1) & batch.target_mask
    return Scored(losses, wrong)


def objective(
    scored: Scored, pondered: Pondered, batch: SequenceBatch, halting: Halting | None
) -> Tensor:
    """Mean over sequences of loss + ponder weight · ponder cost, each summed over the sequence.

    The ponder cost of a sequence is the sum of N + R over its inputs (Graves eq. 10-12). A halting
    that answers by itself has its own, of the one answer that a sequence asks for.
    """
    if halting is not None and pondered.answer is not None:
        return halting.objective(pondered.answer, batch.targets[:, 0, 0])
    per_sequence = scored.losses.sum(dim=1)
    weight = None if halting is None else halting.current_ponder_weight
    if weight is not None and pondered.ponder_cost is not None:
        per_sequence = per_sequence + weight * pondered.ponder_cost.sum(dim=1)
    return per_sequence.mean()


def sequence_marks(
    scored: Scored, pondered: Pondered, batch: SequenceBatch, marked: Marked
) -> Marks:
    """What is kept of a batch to make figures of.

    Losses are per target, joint over heads. A sequence is right without any mistake; one without
    a target (Graves' additions of one number) has none. Steps are those of all inputs.

    Args:
        marked: what accuracy is a share of: sequences, or single targets.
    """
    mask = batch.target_mask
    right = ~scored.wrong[mask] if marked == "target" else ~scored.wrong.any(dim=1)
    asked, examples = torch.tensor(right.numel()), torch.tensor(len(batch.inputs))
    losses, steps, ponder = scored.losses.sum(), pondered.steps, pondered.ponder_cost
    return Marks(losses, mask.sum(), right.sum(), asked, examples, steps, ponder, batch.mask)


class SequenceEvaluation(NamedTuple):
    """A network on some sequences, input by input; see Scored and Pondered for shapes."""

    scored: Scored
    pondered: Pondered
    batch: SequenceBatch

    def figures(self, marked: Marked) -> Figures:
        """All of it in a few numbers."""
        means = EpochMeans()
        means.add(sequence_marks(*self, marked))
        return means.figures()


@torch.no_grad()
def evaluate(
    model: ActRnn, outputs: Outputs, sequences: SequenceBatch, at_a_time: int
) -> SequenceEvaluation:
    """Score sequences, some at a time; how many changes nothing."""
    model.eval()
    scores: list[Scored] = []
    read: list[Pondered] = []
    for start in range(0, len(sequences.inputs), at_a_time):
        part = sequences.rows(start, start + at_a_time)
        pondered = model(part.inputs, part.mask)
        scores.append(score(outputs, pondered.logits, part))
        read.append(pondered)
    losses, wrong = (torch.cat(parts) for parts in zip(*scores, strict=True))
    return SequenceEvaluation(Scored(losses, wrong), joined(read), sequences)


def joined(read: list[Pondered]) -> Pondered:
    """Several batches of equal length as one."""
    steps = [one.steps for one in read if one.steps is not None]
    ponder = [one.ponder_cost for one in read if one.ponder_cost is not None]
    return Pondered(
        torch.cat([one.logits for one in read]),
        torch.cat(steps) if steps else None,
        torch.cat(ponder) if ponder else None,
    )
