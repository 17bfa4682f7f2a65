"""Where a trained network ponders: by difficulty, by kind of byte, along a text (Graves 2016)."""

import string
from dataclasses import dataclass

import torch
from torch import Tensor

from actmodels.figures import mean_and_sd
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.characters import BYTES, Characters
from actmodels.sequences.scoring import SequenceEvaluation, evaluate
from actmodels.sequences.task import Task

# Graves names spaces, commas and full stops as what his networks pause at, and brackets of tags.
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


@dataclass(frozen=True)
class DifficultyFigures:
    """Instances of one difficulty: sequences, or where each vector has its own, vectors.

    instances: how many there are. asked: how many of them have a target.
    error: share of those asked with any mistake; None where none is asked.
    mean_steps, ponder_cost: mean N and N + R of their inputs; None where the network does not halt.
    """

    difficulty: int
    instances: int
    asked: int
    error: float | None
    mean_steps: float | None
    ponder_cost: float | None


def by_difficulty(evaluation: SequenceEvaluation, task: Task) -> list[DifficultyFigures]:
    """Figures of each difficulty that occurs, the least first (Graves' figures 6, 10, 14, 19)."""
    scored, pondered, batch = evaluation
    if task.difficulty_of == "sequence":
        level = batch.difficulty.amax(dim=1)  # padding has 0
        asked, wrong = batch.target_mask.any(dim=1), scored.wrong.any(dim=1)
    else:
        level, asked, wrong = batch.difficulty, batch.target_mask, scored.wrong
    real = batch.mask.any(dim=1) if task.difficulty_of == "sequence" else batch.mask

    def of_inputs(values: Tensor | None, difficulty: int) -> Tensor | None:
        return None if values is None else values[(batch.difficulty == difficulty) & batch.mask]

    rows = []
    for difficulty in level[real].unique().tolist():
        here = real & (level == difficulty)
        counted = here & asked
        count = int(counted.sum())
        rows.append(
            DifficultyFigures(
                difficulty,
                int(here.sum()),
                count,
                wrong[counted].double().mean().item() if count else None,
                mean_and_sd(of_inputs(pondered.steps, difficulty))[0],
                mean_and_sd(of_inputs(pondered.ponder_cost, difficulty))[0],
            )
        )
    return rows


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
    loss: float
    entropy: float
    steps: float | None = None
    ponder_cost: float | None = None


def by_kind(
    model: ActRnn, task: Characters, count: int, generator: torch.Generator, at_a_time: int
) -> list[KindFigures]:
    """Figures of each kind that occurs in windows of the held-out part, in the order of KINDS.

    Where does a character model ponder? (Graves' figure 23)

    Args:
        count: windows; at_a_time: of them, which changes neither draws nor figures.
    """
    place_of = torch.tensor([KINDS.index(kind_of(byte)) for byte in range(BYTES)])
    counts = torch.zeros(len(KINDS), dtype=torch.int64)
    sums: dict[str, Tensor] = {}  # of each figure that there is, by kind
    device = model.output.weight.device
    for start in range(0, count, at_a_time):
        windows = task.sample_dev(min(at_a_time, count - start), generator)
        scored, pondered, _ = evaluate(model, task.outputs, windows.to(device), at_a_time)
        places = place_of[windows.inputs.argmax(dim=-1)].flatten()
        counts += torch.bincount(places, minlength=len(KINDS))
        figures = {
            "steps": pondered.steps,
            "ponder_cost": pondered.ponder_cost,
            "loss": scored.losses,
            "entropy": entropy(pondered.logits),
        }
        for name, values in figures.items():
            if values is not None:
                more = torch.bincount(places, values.flatten().double().cpu(), len(KINDS))
                sums[name] = sums.get(name, 0) + more
    means = {name: (total / counts).tolist() for name, total in sums.items()}
    return [
        KindFigures(kind, count, **{name: of_kind[at] for name, of_kind in means.items()})
        for at, (kind, count) in enumerate(zip(KINDS, counts.tolist(), strict=True))
        if count
    ]


def entropy(logits: Tensor) -> Tensor:
    """That of the predictions [...] for logits [..., classes], in nats."""
    scores = torch.log_softmax(logits, dim=-1)
    return -(scores.exp() * scores).sum(dim=-1)


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
    """Read a text from a state of zeros, byte by byte (Graves' figures 23 and 24).

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
