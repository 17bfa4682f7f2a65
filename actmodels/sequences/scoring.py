"""Measuring a network on sequences, and what its training minimises (Graves 2016 section 2.1)."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.figures import EpochMeans, Figures, Marks
from actmodels.halting.family import Halting
from actmodels.sequences.act_rnn import ActRnn, Pondered
from actmodels.sequences.task import Marked, Outputs, SequenceBatch


class SequenceEvaluation(NamedTuple):
    """Joint cross-entropy in nats and mistakes of each input [batch, time]; 0 without target."""

    losses: Tensor
    wrong: Tensor
    pondered: Pondered
    batch: SequenceBatch

    def objective(self, halting: Halting | None) -> Tensor:
        """Mean over sequences of loss + ponder weight · ponder cost (Graves eq. 10-12)."""
        _, _, ponder_cost, answer = self.pondered
        if halting is not None and answer is not None:
            return halting.objective(answer, self.batch.targets[:, 0, 0])
        per_sequence = self.losses.sum(dim=1)
        weight = None if halting is None else halting.current_ponder_weight
        if weight is not None and ponder_cost is not None:
            per_sequence = per_sequence + weight * ponder_cost.sum(dim=1)
        return per_sequence.mean()

    def marks(self, marked: Marked) -> Marks:
        """Sums for figures.

        Losses are per target, joint over heads. Accuracy is a share of sequences, which are right
        without any mistake, or of single targets (`marked`). Steps are those of all inputs.
        """
        mask, (_, steps, ponder, _) = self.batch.target_mask, self.pondered
        right = ~self.wrong[mask] if marked == "target" else ~self.wrong.any(dim=1)
        asked, examples = torch.tensor(right.numel()), torch.tensor(len(mask))
        sums = (self.losses.sum(), mask.sum(), right.sum())
        return Marks(*sums, asked, examples, steps, ponder, self.batch.mask)

    def figures(self, marked: Marked) -> Figures:
        means = EpochMeans()
        means.add(self.marks(marked))
        return means.figures()


def score(outputs: Outputs, pondered: Pondered, batch: SequenceBatch) -> SequenceEvaluation:
    """Compare what a network made of a batch with the targets."""
    losses = outputs.losses(pondered.logits, batch.targets) * batch.target_mask
    wrong = (outputs.decisions(pondered.logits) != batch.targets).any(dim=-1) & batch.target_mask
    return SequenceEvaluation(losses, wrong, pondered, batch)


@torch.no_grad()
def evaluate(
    model: ActRnn, outputs: Outputs, sequences: SequenceBatch, at_a_time: int
) -> SequenceEvaluation:
    """Score sequences, some at a time; how many changes nothing."""
    model.eval()
    split = zip(*(part.split(at_a_time) for part in sequences), strict=True)
    parts = [SequenceBatch(*part) for part in split]
    scored = [score(outputs, model(part.inputs, part.mask), part) for part in parts]
    losses, wrong, read, _ = zip(*scored, strict=True)
    logits, steps, ponder_cost, _ = zip(*read, strict=True)

    columns = ((None if c[0] is None else torch.cat(c)) for c in (logits, steps, ponder_cost))
    pondered = Pondered(*columns)  # type: ignore[arg-type]
    return SequenceEvaluation(torch.cat(losses), torch.cat(wrong), pondered, sequences)
