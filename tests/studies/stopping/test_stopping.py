"""Study `stopping`: strings worked by hand, the network's reach, training, and its rows."""

from functools import partial
from typing import Any

import pytest
import torch

from actmodels.halting.base import build_halting
from actmodels.prediction import Prediction
from actmodels.registry import HALTINGS
from actmodels.seeding import generator
from studies.stopping import stage
from studies.stopping.config import StoppingTrialConfig, Task
from studies.stopping.network import StringNetwork, Strings, draw
from studies.stopping.section import Study
from studies.stopping.tables import COLUMNS
from studies.stopping.training import StoppingTraining, evaluate
from tests.model_checks import assert_resumed
from tests.samples import SETTINGS

SIZES: dict[str, Any] = {
    **{"bits": 4, "width": 6, "learning_rate": 0.01, "final_rate": 0.5, "clip_norm": 1.0},
    **{"batch_size": 8, "updates_per_epoch": 3, "dev_strings": 10, "dev_seed": 1},
}


def training(mechanism: str, task: Task = "addition", **settings: Any) -> StoppingTraining:
    """Return the training of two small epochs."""
    known = StoppingTrialConfig.setting_types(mechanism)
    values = {name: value for name, value in (SETTINGS | SIZES).items() if name in known}
    limits = {"max_epochs": 2, "patience": 0, "seed": 3}
    config = StoppingTrialConfig.build(mechanism, values | {"task": task} | settings, **limits)
    return StoppingTraining(config)


def test_prefix_sums_worked_by_hand() -> None:
    strings = draw("prefix_sums", 50, 6, generator("sums"))
    for bits, parities in zip(strings.inputs[..., 0].tolist(), strings.targets, strict=True):
        assert parities.tolist() == [bits[: n + 1].count(1.0) % 2 for n in range(6)]
    assert strings.needed.tolist() == [[1, 2, 3, 4, 5, 6]] * 50


def test_sums_equal_those_of_integers() -> None:
    """A carry comes from the last two equal bits, or from the start of the string."""
    strings = draw("addition", 200, 9, generator("numbers"))
    bits = (strings.inputs > 0).long()
    first, second = (bits * 2 ** torch.arange(9)[:, None]).sum(dim=1).unbind(dim=1)
    expected = (first + second)[:, None] // 2 ** torch.arange(9) % 2
    assert torch.equal(strings.targets, expected)
    for pairs, steps in zip(bits.tolist(), strings.needed.tolist(), strict=True):
        equal = [-1, *(n for n, (one, other) in enumerate(pairs) if one == other)]
        origin = [max(n for n in equal if n < at) for at in range(9)]
        assert steps == [1 + at - max(n, 0) for at, n in enumerate(origin)]


@pytest.mark.parametrize("task", ["prefix_sums", "addition"])
def test_after_n_steps_a_bit_depends_on_the_bits_n_minus_1_away(task: Task) -> None:
    model = training("fixed_steps", task, steps=3).model
    strings = draw(task, 1, 9, generator("reach"))
    inputs = strings.inputs.requires_grad_()
    model(inputs).logits[0, 4].sum().backward()
    assert inputs.grad is not None
    assert inputs.grad[0].abs().sum(dim=1).gt(0).tolist() == [2 <= n <= 6 for n in range(9)]


@pytest.mark.parametrize("mechanism", HALTINGS)
def test_every_mechanism_trains_resumes_and_takes_another_exit(mechanism: str) -> None:
    assert_resumed(partial(training, mechanism), 2)
    trained = training(mechanism)
    list(trained.epochs())
    strings = draw("addition", 7, 6, generator("longer"))
    whole, split = (evaluate(trained.model, strings, size, max_steps=8) for size in (7, 3))
    torch.testing.assert_close(whole.logits, split.logits, rtol=1e-5, atol=1e-6)
    fixed = build_halting(HALTINGS["fixed_steps"].settings(steps=6), 6)
    assert evaluate(trained.model, strings, 7, fixed).steps.unique().tolist() == [6]


def test_the_last_epoch_is_kept_at_a_falling_rate() -> None:
    trained = training("dact")
    rates = []
    for _ in trained.epochs():
        rates.append(trained.optimizer.param_groups[0]["lr"])
    assert rates == [0.01, 0.005]
    assert trained.best_epoch == 2


def test_training_learns_addition() -> None:
    trained = training(
        "confidence_exit", min_confidence=0.99, learning_rate=0.02, width=16, updates_per_epoch=100
    )
    assert [epoch.dev_accuracy for epoch in trained.epochs()][-1] > 0.95


STUDY: dict[str, Any] = {
    **{"seeds": [1, 2], "tasks": ["addition"], "max_epochs": 1, "patience": 0},
    "evaluation": {"strings": 6, "bits": [4, 8], "steps_per_bit": 2, "confidence": 0.9},
    "mechanisms": {"act": {"halting_bias": [1.0, -1.0]}, "fixed_steps": {}},
    "settings": SIZES | {"steps": 4, "epsilon": 0.01, "ponder_weight": 0.1, "max_steps": 5},
}


def test_runs_and_rows() -> None:
    study = Study(**STUDY)
    runs = stage.plan(study)
    assert [run.labels["run"] for run in runs[::2]] == [
        *("ACT, halting bias 1.0", "ACT, halting bias -1.0", "fixed steps")
    ]
    assert [run.config.model for run in runs[3:5]] == ["addition_act", "addition_fixed_steps"]
    config = runs[4].config
    model = StringNetwork(config.task.task, config.network.width, config.halting)
    rows = stage.length_rows(runs[4], model, study.evaluation)
    names = [(row["exit"], row["length"], row["mean_steps"]) for row in rows]
    assert names[0] == ("as halted", 4, 4.0) and names[3] == ("as halted", 8, 4.0)
    assert names[2] == ("steps = bits", 4, 4.0) and names[5] == ("steps = bits", 8, 8.0)
    assert names[1][:2] == ("confidence 0.9", 4)
    assert set(COLUMNS["lengths.csv"].split()) <= set(rows[0])


def test_more_steps_than_a_setting_may_have() -> None:
    """Twice as many as the bits of the longest strings."""
    study = Study(**STUDY)
    model = training("fixed_steps").model
    one = study.evaluation.model_copy(update={"strings": 1, "bits": [512], "steps_per_bit": 2})
    rows = stage.length_rows(stage.plan(study)[0], model, one)
    assert [row["length"] for row in rows] == [512] * 3
    assert max(row["mean_steps"] for row in rows) <= 1024


def test_accuracy_of_strings_and_bits() -> None:
    targets = torch.tensor([[0, 1, 1], [1, 0, 0]])
    answers = torch.tensor([[0, 1, 1], [1, 0, 1]])
    logits = torch.nn.functional.one_hot(answers, 2).float()
    steps = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 6.0]])
    needed = torch.tensor([[1, 2, 3], [1, 2, 3]])
    row = stage.length_row(Prediction(logits, steps), Strings(targets, targets, needed))
    assert row["strings"] == 0.5 and row["bits"] == pytest.approx(5 / 6)
    assert row["mean_steps"] == 2.5 and row["length"] == 3
    assert row["correlation"] == pytest.approx(7 / 70**0.5)
