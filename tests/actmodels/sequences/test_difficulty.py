"""Figures by difficulty against loops, and the figures of a set."""

import pytest
import torch

from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.build import build_task
from actmodels.sequences.config import SequenceHaltingConfig, TaskConfig
from actmodels.sequences.pondering import by_difficulty
from actmodels.sequences.scoring import SequenceEvaluation, evaluate
from actmodels.sequences.task import Task
from tests.actmodels.sequences.samples import ACT, GENERATED, sample_trial


def evaluated(
    config: TaskConfig, halting: SequenceHaltingConfig, at_a_time: int = 64
) -> tuple[Task, SequenceEvaluation]:
    task = build_task(config)
    torch.manual_seed(1)
    model = ActRnn(task.inputs, task.outputs.size, sample_trial().network, halting)
    sequences = task.sample(200, torch.Generator().manual_seed(1))
    return task, evaluate(model, task.outputs, sequences, at_a_time)


@pytest.mark.parametrize("config", GENERATED)
def test_against_a_loop(config: TaskConfig) -> None:
    task, evaluation = evaluated(config, ACT)
    scored, pondered, batch = evaluation
    errors: dict[int, list[bool]] = {}
    steps: dict[int, list[float]] = {}
    for row in range(200):
        length = int(batch.mask[row].sum())
        for t in range(length):
            level = int(batch.difficulty[row, t])
            steps.setdefault(level, []).append(pondered.steps[row, t].item())
            if task.difficulty_of == "vector" and batch.target_mask[row, t]:
                errors.setdefault(level, []).append(bool(scored.wrong[row, t]))
        if task.difficulty_of == "sequence":
            wrong = any(bool(scored.wrong[row, t]) for t in range(length))
            errors.setdefault(int(batch.difficulty[row, 0]), []).append(wrong)
    rows = by_difficulty(evaluation, task)
    assert [row.difficulty for row in rows] == sorted(steps)
    for row in rows:
        own = errors[row.difficulty]
        assert row.asked == len(own)
        assert row.error == pytest.approx(sum(own) / len(own))
        own_steps = steps[row.difficulty]
        assert row.mean_steps == pytest.approx(sum(own_steps) / len(own_steps))
    vectors = int(batch.mask.sum())
    assert sum(r.instances for r in rows) == (200 if task.difficulty_of == "sequence" else vectors)


@pytest.mark.parametrize("config", GENERATED)
def test_figures_of_a_set(config: TaskConfig) -> None:
    _, evaluation = evaluated(config, ACT)
    scored, pondered, batch = evaluation
    figures = evaluation.figures("sequence")
    mistakes = [bool(row.any()) for row in scored.wrong]
    assert figures.accuracy == pytest.approx(1 - sum(mistakes) / 200)
    targets = int(batch.target_mask.sum())
    assert figures.loss == pytest.approx(scored.losses.double().sum().item() / targets)
    assert figures.mean_steps == pytest.approx(pondered.steps[batch.mask].mean().item())
    assert figures.ponder_cost == pytest.approx(pondered.ponder_cost[batch.mask].mean().item())


@pytest.mark.parametrize("config", GENERATED)
def test_how_many_at_a_time_changes_nothing(config: TaskConfig) -> None:
    _, some = evaluated(config, ACT, at_a_time=7)
    _, all_ = evaluated(config, ACT, at_a_time=200)
    torch.testing.assert_close(some.scored.losses, all_.scored.losses)
    assert torch.equal(some.pondered.steps, all_.pondered.steps)


def test_without_halting_there_are_no_steps() -> None:
    task, evaluation = evaluated(GENERATED[0], None)
    assert evaluation.figures("sequence").mean_steps is None
    assert all(row.mean_steps is None for row in by_difficulty(evaluation, task))
    assert all(row.ponder_cost is None for row in by_difficulty(evaluation, task))
