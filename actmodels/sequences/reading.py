"""What a character model does along a given text, byte by byte (Graves 2016, figures 23 and 24)."""

from dataclasses import dataclass

import torch

from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.byte_kinds import entropy
from actmodels.sequences.characters import Characters


@dataclass(frozen=True)
class ReadByte:
    """One byte that was read.

    byte: its code. steps: N on it; None for a network without halting. ponder_cost: N + R.
    loss: of the byte that came next, in nats. entropy: of the prediction, in nats.
    """

    byte: int
    steps: int | None
    ponder_cost: float | None
    loss: float
    entropy: float


@torch.no_grad()
def read(model: ActRnn, task: Characters, text: bytes) -> list[ReadByte]:
    """Read a text from a state of zeros.

    Args:
        text: at least two bytes; the last is only predicted.
    """
    if len(text) < 2:
        raise ValueError(f"the text has {len(text)} bytes; at least 2 are needed to predict one")
    model.eval()
    weight = model.output.weight
    batch = task.batch(torch.tensor([list(text)], dtype=torch.uint8)).to(weight.device)
    pondered = model(batch.inputs.to(weight.dtype), batch.mask)
    losses = task.outputs.losses(pondered.logits, batch.targets)[0].tolist()
    entropies = entropy(pondered.logits[0])
    steps = None if pondered.steps is None else pondered.steps[0].tolist()
    ponder = None if pondered.ponder_cost is None else pondered.ponder_cost[0].tolist()
    return [
        ReadByte(
            text[t],
            None if steps is None else int(steps[t]),
            None if ponder is None else ponder[t],
            losses[t],
            entropy,
        )
        for t, entropy in enumerate(entropies.tolist())
    ]
