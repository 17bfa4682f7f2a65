"""Measuring a network on sequences."""

from typing import NamedTuple

import torch

from actmodels.figures import EpochMeans, Figures, Marks
from actmodels.sequences.act_rnn import ActRnn, Pondered
from actmodels.sequences.batch import SequenceBatch
from actmodels.sequences.objective import Scored, score
from actmodels.sequences.outputs import Outputs
from actmodels.sequences.task import Marked


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
    steps, ponder = (
        None if values is None else values.detach()
        for values in (pondered.steps, pondered.ponder_cost)
    )
    losses = scored.losses.detach().sum()
    return Marks(losses, mask.sum(), right.sum(), asked, examples, steps, ponder, batch.mask)


class SequenceEvaluation(NamedTuple):
    """A network on a set of sequences, input by input; see Scored and Pondered for shapes."""

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
