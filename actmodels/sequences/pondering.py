"""Where a trained network ponders: by difficulty, by kind of byte, along a text (Graves 2016)."""

import string
from dataclasses import dataclass

import torch
from torch import Tensor

from actmodels.metrics import mean_and_sd
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.characters import BYTES, Characters
from actmodels.sequences.task import SequenceBatch, Task
from actmodels.sequences.training import SequenceEvaluation, evaluate

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

    asked: how many have a target. error: share of those asked with any mistake; None if 0. Means of
    N and N + R are over their inputs; None without halting.
    """

    difficulty: int
    instances: int
    asked: int
    error: float | None
    mean_steps: float | None
    ponder_cost: float | None


def by_difficulty(evaluation: SequenceEvaluation, task: Task) -> list[DifficultyFigures]:
    """Figures of each difficulty that occurs, the least first (Graves' figures 6, 10, 14, 19)."""
    _, wrong, pondered, batch = evaluation
    level, real, asked = batch.difficulty, batch.mask, batch.target_mask
    if task.difficulty_of == "sequence":
        level = level.amax(dim=1)  # padding has 0
        real, asked, wrong = (marked.any(dim=1) for marked in (real, asked, wrong))

    def mean(values: Tensor | None, difficulty: int) -> float | None:
        own = (batch.difficulty == difficulty) & batch.mask
        return None if values is None else mean_and_sd(values[own])[0]

    rows = []
    for difficulty in level[real].unique().tolist():
        here = real & (level == difficulty)
        counted = here & asked
        sizes = (int(here.sum()), int(counted.sum()))
        error = wrong[counted].double().mean().item() if sizes[1] else None
        steps, ponder = (mean(v, difficulty) for v in (pondered.steps, pondered.ponder_cost))
        rows.append(DifficultyFigures(difficulty, *sizes, error, steps, ponder))
    return rows


def kind_of(byte: int) -> str:
    """The kind of a byte; those above 127 are parts of letters, nearly always."""
    if byte >= 128:
        return "letter"
    return next((kind for kind, bytes_ in ASCII.items() if chr(byte) in bytes_), MARKS)


@dataclass(frozen=True, kw_only=True)
class ByteFigures:
    """A byte that was read, or means: N, N + R, loss of the next byte, entropy in nats."""

    loss: float
    entropy: float
    steps: float | None = None
    ponder_cost: float | None = None


@dataclass(frozen=True, kw_only=True)
class KindFigures(ByteFigures):
    """So many bytes of one kind."""

    kind: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ReadByte(ByteFigures):
    """One byte by its code."""

    byte: int


def figures_of(
    model: ActRnn, task: Characters, windows: SequenceBatch, at_a_time: int
) -> dict[str, Tensor]:
    """The figures that there are of each byte of windows, one window after the other [bytes]."""
    weight = model.output.weight
    windows = windows.to(weight.device)
    windows = windows._replace(inputs=windows.inputs.to(weight.dtype))
    losses, _, pondered, _ = evaluate(model, task.outputs, windows, at_a_time)
    scores = torch.log_softmax(pondered.logits, dim=-1)
    figures = {"steps": pondered.steps, "ponder_cost": pondered.ponder_cost}
    figures |= {"loss": losses, "entropy": -(scores.exp() * scores).sum(dim=-1)}
    return {name: v.flatten().cpu() for name, v in figures.items() if v is not None}


def by_kind(
    model: ActRnn, task: Characters, count: int, generator: torch.Generator, at_a_time: int
) -> list[KindFigures]:
    """Means of each kind in `count` windows of the held-out part, as KINDS (Graves' figure 23)."""
    place_of = torch.tensor([KINDS.index(kind_of(byte)) for byte in range(BYTES)])
    counts = torch.zeros(len(KINDS), dtype=torch.int64)
    sums: dict[str, Tensor] = {}  # of each figure that there is, by kind
    for start in range(0, count, at_a_time):
        windows = task.sample_dev(min(at_a_time, count - start), generator)
        places = place_of[windows.inputs.argmax(dim=-1)].flatten()
        counts += torch.bincount(places, minlength=len(KINDS))
        for name, values in figures_of(model, task, windows, at_a_time).items():
            more = torch.bincount(places, values.double(), len(KINDS))
            sums[name] = sums.get(name, 0) + more
    means = {name: (total / counts).tolist() for name, total in sums.items()}
    return [
        KindFigures(kind=kind, count=count, **{name: mean[at] for name, mean in means.items()})
        for at, (kind, count) in enumerate(zip(KINDS, counts.tolist(), strict=True))
        if count
    ]


def read(model: ActRnn, task: Characters, text: bytes) -> list[ReadByte]:
    """Read a text of at least two bytes from a state of zeros (Graves' figures 23 and 24)."""
    if len(text) < 2:
        raise ValueError(f"the text has {len(text)} bytes; at least 2 are needed to predict one")
    window = task.batch(torch.tensor([list(text)], dtype=torch.uint8))
    columns = {name: v.tolist() for name, v in figures_of(model, task, window, 1).items()}
    if "steps" in columns:
        columns["steps"] = [int(steps) for steps in columns["steps"]]
    return [
        ReadByte(byte=byte, **{name: column[at] for name, column in columns.items()})
        for at, byte in enumerate(text[:-1])
    ]
