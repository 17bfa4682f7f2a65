"""What a character model does on each kind of byte: where does it ponder? (Graves 2016, figure 23)

Graves names spaces, commas and full stops as what his networks pause at, and brackets of XML tags.
"""

import string
from dataclasses import dataclass

import torch
from torch import Tensor

from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.characters import BYTES, Characters
from actmodels.sequences.evaluation import evaluate

MARKS = "markup or other mark"
# A dot in an abbreviation or in a number counts as a sentence end, too.
ASCII = {
    "letter": string.ascii_letters,
    "digit": string.digits,
    "space": " \t",
    "line end": "\r\n",
    "sentence end": ".!?",
    "comma, colon or semicolon": ",:;",
}
KINDS = (*ASCII, MARKS)


def kind_of(byte: int) -> str:
    """The kind of a byte; those above 127 are parts of letters, nearly always."""
    if byte >= 128:
        return "letter"
    return next((kind for kind, bytes_ in ASCII.items() if chr(byte) in bytes_), MARKS)


@dataclass(frozen=True)
class KindFigures:
    """Bytes of one kind that were read.

    count: how many. steps, ponder_cost: mean N and N + R on one; None where the network does not
        halt, or where steps cost nothing.
    loss: mean of the byte that came next, in nats. entropy: mean of the predictions, in nats.
    """

    kind: str
    count: int
    steps: float | None
    ponder_cost: float | None
    loss: float
    entropy: float


class Sums:
    """Sums of a figure by kind, in double precision."""

    def __init__(self) -> None:
        self.sums = [0.0] * len(KINDS)
        self.given = False

    def add(self, places: Tensor, values: Tensor | None) -> None:
        """Take in values [...] of bytes at these places in KINDS [...]."""
        if values is not None:
            more = torch.bincount(places.flatten(), values.flatten().double(), len(KINDS))
            self.sums = [a + b for a, b in zip(self.sums, more.tolist(), strict=True)]
            self.given = True

    def whole(self, place: int) -> int:
        """The sum of one kind, of numbers that are whole."""
        return round(self.sums[place])

    def mean(self, place: int, counts: "Sums") -> float | None:
        """Over the bytes of one kind; None where there are none, or no figure of them."""
        count = counts.sums[place]
        return self.sums[place] / count if self.given and count else None


def by_kind(
    model: ActRnn, task: Characters, count: int, generator: torch.Generator, at_a_time: int
) -> list[KindFigures]:
    """Figures of each kind that occurs in windows of the held-out part, in the order of KINDS.

    Args:
        count: windows; at_a_time: of them, which changes neither draws nor figures.
    """
    place_of = torch.tensor([KINDS.index(kind_of(byte)) for byte in range(BYTES)])
    counts, steps, ponder, losses, entropies = Sums(), Sums(), Sums(), Sums(), Sums()
    device = model.output.weight.device
    for start in range(0, count, at_a_time):
        windows = task.sample_dev(min(at_a_time, count - start), generator)
        scored, pondered, _ = evaluate(model, task.outputs, windows.to(device), at_a_time)
        places = place_of[windows.inputs.argmax(dim=-1)].to(device)
        counts.add(places, torch.ones_like(scored.losses))
        steps.add(places, pondered.steps)
        ponder.add(places, pondered.ponder_cost)
        losses.add(places, scored.losses)
        entropies.add(places, entropy(pondered.logits))
    found = []
    for at, kind in enumerate(KINDS):
        loss, mean_entropy = losses.mean(at, counts), entropies.mean(at, counts)
        if loss is not None and mean_entropy is not None:
            figures = KindFigures(
                kind,
                counts.whole(at),
                steps.mean(at, counts),
                ponder.mean(at, counts),
                loss,
                mean_entropy,
            )
            found.append(figures)
    return found


def entropy(logits: Tensor) -> Tensor:
    """That of the predictions [...] for logits [..., classes], in nats."""
    scores = torch.log_softmax(logits, dim=-1)
    return -(scores.exp() * scores).sum(dim=-1)
