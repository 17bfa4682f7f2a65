"""What training minimises: the task's loss and the price of pondering (Graves 2016 section 2.1)."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import FILLER
from actmodels.halting.family import Halting
from actmodels.models.prediction import Prediction
from actmodels.sequences.act_rnn import Pondered
from actmodels.sequences.batch import SequenceBatch
from actmodels.sequences.outputs import Outputs


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


def objective(scored: Scored, pondered: Pondered, halting: Halting | None) -> Tensor:
    """Mean over sequences of loss + ponder weight · ponder cost, each summed over the sequence.

    The ponder cost of a sequence is the sum of N + R over its inputs (Graves eq. 10-12).
    """
    per_sequence = scored.losses.sum(dim=1)
    weight = None if halting is None else halting.current_ponder_weight
    if weight is not None and pondered.ponder_cost is not None:
        per_sequence = per_sequence + weight * pondered.ponder_cost.sum(dim=1)
    return per_sequence.mean()


def adapt(halting: Halting, pondered: Pondered, mask: Tensor) -> None:
    """Tell a halting that watches its steps about an update; each input is an example to it."""
    assert pondered.steps is not None
    labels = torch.where(mask, 0, FILLER).flatten()
    halting.adapt(Prediction(pondered.logits, steps=pondered.steps.flatten()), labels)
