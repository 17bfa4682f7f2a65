"""Measuring a network on sequences."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.evaluation import mean_and_sd
from actmodels.sequences.act_rnn import ActRnn, Pondered
from actmodels.sequences.batch import SequenceBatch
from actmodels.sequences.objective import Scored, score
from actmodels.sequences.outputs import Outputs
from actmodels.sequences.task import Marked


class SequenceFigures(NamedTuple):
    """Figures of many sequences.

    loss: nats per target, joint over heads. accuracy: share of sequences without any mistake; one
    without a target (Graves' additions of one number) has none. Or share of targets that are right.
    mean_steps, sd_steps: N over all inputs. ponder_cost: mean N + R of an input. None where the
    network does not halt.
    """

    loss: float
    accuracy: float
    mean_steps: float | None
    sd_steps: float | None
    ponder_cost: float | None


class SequenceMarks:
    """What is kept of batches to make figures of; all of it without gradients.

    Args:
        marked: what accuracy is a share of.
    """

    def __init__(self, marked: Marked) -> None:
        self.marked = marked
        self.sequences = 0
        self.losses: list[Tensor] = []
        self.targets: list[Tensor] = []
        self.right: list[Tensor] = []
        self.steps: list[Tensor] = []
        self.ponder: list[Tensor] = []

    def add(self, scored: Scored, pondered: Pondered, batch: SequenceBatch) -> None:
        """Take in one batch."""
        self.losses.append(scored.losses.detach().sum())
        self.targets.append(batch.target_mask.sum())
        self.sequences += len(batch.inputs)
        if self.marked == "target":
            self.right.append(~scored.wrong[batch.target_mask])
        else:
            self.right.append(~scored.wrong.any(dim=1))
        if pondered.steps is not None:
            self.steps.append(pondered.steps.detach()[batch.mask])
        if pondered.ponder_cost is not None:
            self.ponder.append(pondered.ponder_cost.detach()[batch.mask])

    def figures(self) -> SequenceFigures:
        """Zeros where nothing was taken in: a first batch that diverged."""
        if not self.right:
            return SequenceFigures(0.0, 0.0, None, None, None)
        targets = max(int(torch.stack(self.targets).sum()), 1)
        mean_steps, sd_steps = mean_and_sd(torch.cat(self.steps) if self.steps else None)
        return SequenceFigures(
            torch.stack(self.losses).double().sum().item() / targets,
            torch.cat(self.right).double().mean().item(),
            mean_steps,
            sd_steps,
            mean_and_sd(torch.cat(self.ponder) if self.ponder else None)[0],
        )


class SequenceEvaluation(NamedTuple):
    """A network on a set of sequences, input by input; see Scored and Pondered for shapes."""

    scored: Scored
    pondered: Pondered
    batch: SequenceBatch

    def figures(self, marked: Marked) -> SequenceFigures:
        """All of it in a few numbers."""
        marks = SequenceMarks(marked)
        marks.add(*self)
        return marks.figures()


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
