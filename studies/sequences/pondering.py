"""Where a trained network ponders: by difficulty, by class of byte, along a text (Graves 2016).

Functions return rows of result tables, by column name. Steps are N, ponder costs N + R, losses and
entropies in nats; steps and ponder costs are None without halting.
"""

import string
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from actmodels.metrics import mean_and_sd
from actmodels.models.act_rnn import ActRnn
from studies.sequences.drawn_tasks import BYTES, Characters
from studies.sequences.task import SequenceBatch, Task
from studies.sequences.training import SequenceEvaluation, evaluate

Row = dict[str, Any]
NO_TARGET = "none"
COLUMNS = ("loss", "entropy", "steps", "ponder_cost")
# Graves' networks pause at spaces, commas and full stops, and at the brackets of tags.
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
BYTE_CLASSES = (*ASCII, MARKS)


def by_difficulty(evaluation: SequenceEvaluation, task: Task) -> list[Row]:
    """Return a row for each difficulty, in ascending order (Graves' figures 6, 10, 14 and 19).

    Instances are sequences, or vectors where each has its own difficulty. `asked` counts those
    with a target, `error` is their error rate (None if 0). Means are over all inputs.
    """
    _, wrong, pondered, batch = evaluation
    level, real, has_target = batch.difficulty, batch.mask, batch.target_mask
    if task.difficulty_of == "sequence":
        level = level.amax(dim=1)  # padding has 0
        real, has_target, wrong = (flags.any(dim=1) for flags in (real, has_target, wrong))

    def row(difficulty: int) -> Row:
        inputs = (batch.difficulty == difficulty) & batch.mask
        instances = real & (level == difficulty)
        counted = instances & has_target
        count = int(counted.sum())
        steps, ponder_cost = (
            None if values is None else mean_and_sd(values[inputs])[0]
            for values in (pondered.steps, pondered.ponder_cost)
        )
        return {
            "difficulty": difficulty,
            "instances": int(instances.sum()),
            "asked": count,
            "error": wrong[counted].double().mean().item() if count else None,
            "mean_steps": steps,
            "ponder_cost": ponder_cost,
        }

    return [row(difficulty) for difficulty in level[real].unique().tolist()]


def along(evaluation: SequenceEvaluation, task: Task) -> list[Row]:
    """Return a row for each input of the first of the longest sequences (figures 15 and 20).

    Return none if the task does not describe its inputs.
    """
    _, _, pondered, batch = evaluation
    if pondered.steps is None or pondered.ponder_cost is None:
        return []
    at = int(batch.mask.sum(dim=1).argmax())
    rows = []
    for t in range(int(batch.mask[at].sum())):
        described = task.described(batch.inputs[at, t], batch.targets[at, t])
        if described is None:
            return []
        read, target = described
        steps, ponder = int(pondered.steps[at, t]), float(pondered.ponder_cost[at, t])
        asked = target if batch.target_mask[at, t] else NO_TARGET
        row = {"position": t + 1, "input": read, "target": asked}
        rows.append(row | {"steps": steps, "ponder": ponder})
    return rows


def byte_class(byte: int) -> str:
    """Return the class of a byte; bytes above 127 nearly always belong to letters."""
    if byte >= 128:
        return "letter"
    return next((name for name, bytes_ in ASCII.items() if chr(byte) in bytes_), MARKS)


def byte_columns(
    model: ActRnn, task: Characters, windows: SequenceBatch, batch_size: int
) -> dict[str, Tensor]:
    """Return those of COLUMNS that exist, for each byte of concatenated windows [bytes]."""
    weight = model.output.weight
    windows = windows.to(weight.device)
    windows = windows._replace(inputs=windows.inputs.to(weight.dtype))
    losses, _, pondered, _ = evaluate(model, task.outputs, windows, batch_size)
    scores = torch.log_softmax(pondered.logits, dim=-1)
    entropies = -(scores.exp() * scores).sum(dim=-1)
    values = (losses, entropies, pondered.steps, pondered.ponder_cost)
    columns = zip(COLUMNS, values, strict=True)
    return {name: column.flatten().cpu() for name, column in columns if column is not None}


def by_byte_class(
    model: ActRnn, task: Characters, count: int, generator: torch.Generator, batch_size: int
) -> list[Row]:
    """Return the means of each class in `count` windows of the held-out part (figure 23)."""
    class_of = torch.tensor([BYTE_CLASSES.index(byte_class(byte)) for byte in range(BYTES)])
    counts = torch.zeros(len(BYTE_CLASSES), dtype=torch.int64)
    sums: dict[str, Tensor] = {}
    for start in range(0, count, batch_size):
        windows = task.sample_dev(min(batch_size, count - start), generator)
        classes = class_of[windows.inputs.argmax(dim=-1)].flatten()
        counts += torch.bincount(classes, minlength=len(BYTE_CLASSES))
        for name, values in byte_columns(model, task, windows, batch_size).items():
            of_window = torch.bincount(classes, values.double(), len(BYTE_CLASSES))
            sums[name] = sums.get(name, 0) + of_window
    means = {name: (total / counts).tolist() for name, total in sums.items()}
    return [
        _row(means, at) | {"kind": name, "count": number}
        for at, (name, number) in enumerate(zip(BYTE_CLASSES, counts.tolist(), strict=True))
        if number
    ]


def read(model: ActRnn, task: Characters, text: bytes) -> list[Row]:
    """Read a text from a zero state; return a row for each byte but the last (figures 23 and 24).

    Raises:
        ValueError: the text has fewer than two bytes.
    """
    if len(text) < 2:
        raise ValueError(f"the text has {len(text)} bytes; at least 2 are needed to predict one")
    window = task.batch(torch.tensor([list(text)], dtype=torch.uint8))
    columns = {name: v.tolist() for name, v in byte_columns(model, task, window, 1).items()}
    if "steps" in columns:
        columns["steps"] = [int(steps) for steps in columns["steps"]]
    return [_row(columns, at) | {"byte": byte} for at, byte in enumerate(text[:-1])]


def _row(columns: Mapping[str, Sequence[float]], at: int) -> Row:
    return dict.fromkeys(COLUMNS) | {name: column[at] for name, column in columns.items()}
