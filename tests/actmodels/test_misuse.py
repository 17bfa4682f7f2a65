"""Wrong configurations, states, budgets, inputs and targets: one sentence for each.

The sentences are in tests/fixtures/golden/halting.txt.
"""

import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.halting import Act, ActConfig, DactConfig, PonderNetConfig, adapt_steps
from actmodels.registry import HALTINGS
from tests.actmodels.outside import LABELS, MECHANISMS, SIZE, build, parts

ROWS = torch.zeros(6, SIZE)


def run(state: Any = ROWS, step: Any = torch.tanh, size: int = SIZE, **options: Any) -> Any:
    return adapt_steps(step, state, Act(ActConfig(), size), nn.Linear(SIZE, 3), **options)


def objective(name: str, targets: Any, loss: Any = None, **options: Any) -> Any:
    """Return the objective of a mechanism for five examples, or for [2, 3] with `options`."""
    step, classify, states = parts()
    halting = build(name)
    if options:
        states, options["batch_dims"] = states[:, :3], 2
    dims = options.pop("batch_dims", 1)
    chosen = states if dims == 2 else states[0]
    prediction = adapt_steps(step, chosen, halting, classify, batch_dims=dims)
    return halting.objective(prediction, targets, loss, **options)


def summed(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.mse_loss(outputs, targets)


TARGETS: dict[str, tuple[Tensor, Any]] = {
    "a label below 0": (torch.tensor([0, 1, -1, 1, 2]), None),
    "a label above the last class": (torch.tensor([0, 1, 3, 1, 2]), None),
    "labels of two dimensions": (torch.ones(5, 1, dtype=torch.int64), None),
    "labels with a fraction": (torch.ones(5), None),
    "a loss without examples": (torch.ones(5, 3), summed),
}
PAIRED = LABELS[:, :3]
WRONG: dict[str, Callable[[], Any]] = {
    "epsilon 2": lambda: ActConfig(epsilon=2.0),
    "epsilon 1": lambda: ActConfig(epsilon=1.0),
    "epsilon 0": lambda: ActConfig(epsilon=0.0),
    "epsilon nan": lambda: ActConfig(epsilon=float("nan")),
    "epsilon as text": lambda: ActConfig(epsilon="0.01"),  # type: ignore[arg-type]
    "ponder_weight -1": lambda: ActConfig(ponder_weight=-1),
    "max_steps 0": lambda: ActConfig(max_steps=0),
    "max_steps 1001": lambda: ActConfig(max_steps=1001),
    "max_steps True": lambda: ActConfig(max_steps=True),
    "prior_steps 1": lambda: PonderNetConfig(prior_steps=1.0),
    "another configuration": lambda: Act(DactConfig(), 6),  # type: ignore[arg-type]
    "another size": lambda: run(size=3),
    "two leading dimensions": lambda: run(torch.zeros(2, 4, SIZE)),
    "tensors of two sizes": lambda: run((torch.zeros(4, SIZE), torch.zeros(3, SIZE))),
    "no tensor": lambda: run(("h", None)),
    "a shared table as inputs": lambda: run(step=lambda s, t: s, inputs=torch.zeros(9, SIZE)),
    "a budget of 0": lambda: run(max_steps=0),
    "an example's budget of 0": lambda: run(max_steps=torch.tensor([1, 0, 2, 3, 1, 1])),
    "budgets of other examples": lambda: run(max_steps=torch.ones(4, dtype=torch.long)),
    "a mask of other examples": lambda: objective("act", PAIRED, mask=torch.ones(3).bool()),
    "a mask of numbers": lambda: objective("act", PAIRED, mask=torch.ones(2, 3)),
    "weights of other examples": lambda: objective("act", PAIRED, weights=torch.ones(2, 2)),
    "another reduction": lambda: objective("act", PAIRED, reduction="average"),
    **{name: partial(objective, "act", *both) for name, both in TARGETS.items()},
}


def sentence(wrong: Callable[[], Any]) -> str:
    with pytest.raises((TypeError, ValueError)) as caught:
        wrong()
    return str(caught.value)


def test_misuse(golden: Callable[[str, str], None]) -> None:
    golden("halting.txt", "".join(f"{name}: {sentence(one)}\n" for name, one in WRONG.items()))


@MECHANISMS
def test_every_mechanism_refuses_wrong_targets(name: str) -> None:
    for targets in TARGETS.values():
        expected = sentence(partial(objective, "act", *targets))
        assert sentence(partial(objective, name, *targets)) == expected


@MECHANISMS
def test_the_limits_of_every_setting_are_those_of_its_help(name: str) -> None:
    of = HALTINGS[name].settings
    lines = of().help().splitlines()
    assert [line.split(" = ")[0] for line in lines] == list(of.__dataclass_fields__)
    for setting, limits in (re.split(r" = .*\(", line) for line in lines):
        found = re.findall(r"(at least|at most|above|below) (-?[\d,.]*\d)", limits)
        assert len(found) == 2, limits
        for word, number in found:
            beyond, kind = (
                (-1 if word in ("at least", "above") else 1),
                type(getattr(of(), setting)),
            )
            limit = kind(float(number.replace(",", "")))
            values = [(limit, word in ("at least", "at most")), (limit + beyond, False)]
            for value, allowed in values:
                with nullcontext() if allowed else pytest.raises(ValueError, match=setting):
                    assert getattr(of(**{setting: value}), setting) == value
