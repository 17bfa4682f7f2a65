"""Metrics by difficulty, of a set, and by class of byte, against loops."""

import pytest
import torch

from actmodels.configs import FixedStepsConfig
from actmodels.models.act_rnn import ActRnn
from studies.sequences.config import (
    AdditionConfig,
    CharactersConfig,
    SequenceHaltingConfig,
    SortConfig,
    TaskConfig,
)
from studies.sequences.drawn_tasks import Characters
from studies.sequences.pondering import (
    BYTE_CLASSES,
    COLUMNS,
    Row,
    along,
    by_byte_class,
    by_difficulty,
    byte_class,
    read,
)
from studies.sequences.task import Task
from studies.sequences.training import SequenceEvaluation, build_task, evaluate
from tests.studies.sequences.samples import ACT, GENERATED, sample_trial


def evaluated(
    config: TaskConfig, halting: SequenceHaltingConfig, batch_size: int = 64
) -> tuple[Task, SequenceEvaluation]:
    task = build_task(config)
    torch.manual_seed(1)
    model = ActRnn(task.inputs, task.outputs.size, sample_trial().network, halting)
    sequences = task.sample(200, torch.Generator().manual_seed(1))
    return task, evaluate(model, task.outputs, sequences, batch_size)


def test_along_the_first_of_the_longest_sequences() -> None:
    """The targets of addition follow from the inputs as printed; sort prints the numbers."""
    task, evaluation = evaluated(AdditionConfig(3, 2), ACT)
    rows = along(evaluation, task)
    assert [row["position"] for row in rows] == [1, 2, 3] and rows[0]["target"] == "none"
    numbers = [int(row["input"].replace(" ", "")) for row in rows]
    sums = [int(row["target"].replace(" ", "")) for row in rows[1:]]
    assert sums == [numbers[0] + numbers[1], sum(numbers)]
    assert all(row["steps"] <= row["ponder"] <= row["steps"] + 1 for row in rows)
    task, evaluation = evaluated(SortConfig(4), ACT)
    rows = along(evaluation, task)
    order = [float(rows[int(row["target"])]["input"]) for row in rows[4:]]
    assert len(rows) == 8 and order == sorted(order)
    assert along(evaluated(SortConfig(4), None)[1], task) == []


@pytest.mark.parametrize("config", GENERATED)
def test_difficulties_against_a_loop(config: TaskConfig) -> None:
    task, evaluation = evaluated(config, ACT)
    losses, mistaken, pondered, batch = evaluation
    errors: dict[int, list[bool]] = {}
    steps: dict[int, list[float]] = {}
    for row in range(200):
        length = int(batch.mask[row].sum())
        for t in range(length):
            level = int(batch.difficulty[row, t])
            steps.setdefault(level, []).append(pondered.steps[row, t].item())
            if task.difficulty_of == "vector" and batch.target_mask[row, t]:
                errors.setdefault(level, []).append(bool(mistaken[row, t]))
        if task.difficulty_of == "sequence":
            wrong = any(bool(mistaken[row, t]) for t in range(length))
            errors.setdefault(int(batch.difficulty[row, 0]), []).append(wrong)
    rows = by_difficulty(evaluation, task)
    assert [row["difficulty"] for row in rows] == sorted(steps)
    for row in rows:
        own = errors[row["difficulty"]]
        assert row["asked"] == len(own)
        assert row["error"] == pytest.approx(sum(own) / len(own))
        own_steps = steps[row["difficulty"]]
        assert row["mean_steps"] == pytest.approx(sum(own_steps) / len(own_steps))
    vectors = int(batch.mask.sum())
    assert sum(r["instances"] for r in rows) == (
        200 if task.difficulty_of == "sequence" else vectors
    )

    metrics = evaluation.metrics("sequence")
    mistakes = [bool(row.any()) for row in mistaken]
    assert metrics.accuracy == pytest.approx(1 - sum(mistakes) / 200)
    targets = int(batch.target_mask.sum())
    assert metrics.loss == pytest.approx(losses.double().sum().item() / targets)
    assert metrics.mean_steps == pytest.approx(pondered.steps[batch.mask].mean().item())
    assert metrics.ponder_cost == pytest.approx(pondered.ponder_cost[batch.mask].mean().item())


TEXT = torch.tensor(list("Zoë, 24 <b>; [[fox]]\nno. Yes! ".encode() * 9), dtype=torch.uint8)
TASK = Characters(CharactersConfig(window=7, held_out_bytes=120), TEXT, "text")


def test_the_class_of_a_byte() -> None:
    examples = ("aZë", "09", " \t", "\n", ".!?", ",;:", "<>[]{}|='\"&-/()#\x00")
    for name, bytes_ in zip(BYTE_CLASSES, examples, strict=True):
        assert {byte_class(byte) for byte in bytes_.encode()} == {name}
    assert {byte_class(byte) for byte in range(256)} == set(BYTE_CLASSES)


@pytest.mark.parametrize("halting", [ACT, FixedStepsConfig(steps=2), None])
def test_byte_classes_against_a_loop(halting: SequenceHaltingConfig) -> None:
    model = ActRnn(256, 256, sample_trial().network, halting)
    result = by_byte_class(model, TASK, 40, torch.Generator().manual_seed(1), batch_size=16)
    generator = torch.Generator().manual_seed(1)
    drawn = [TASK.sample_dev(count, generator) for count in (16, 16, 8)]
    rows: dict[str, list[Row]] = {}
    for batch in drawn:
        for row in range(len(batch.inputs)):
            codes = [*batch.inputs[row].argmax(dim=-1).tolist(), int(batch.targets[row, -1, 0])]
            for one in read(model, TASK, bytes(codes)):
                rows.setdefault(byte_class(one["byte"]), []).append(one)
    assert [row["kind"] for row in result] == [name for name in BYTE_CLASSES if name in rows]
    assert sum(row["count"] for row in result) == 40 * 7
    for row in result:
        own = rows[row["kind"]]
        assert row["count"] == len(own)
        for column in COLUMNS:
            values = [one[column] for one in own]
            if values[0] is None:
                assert row[column] is None
            else:
                assert row[column] == pytest.approx(sum(values) / len(values), rel=1e-5)
