"""Parts of a user of actmodels.halting: a mechanism, a step, a classifier, states and labels."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from actmodels.registry import HALTINGS, load_class
from tests.samples import SETTINGS

SIZE = 8
MECHANISMS = pytest.mark.parametrize("name", HALTINGS)


def build(name: str, *, double: bool = True, **others: Any) -> Any:
    """A mechanism with settings by which examples take different numbers of steps."""
    torch.manual_seed(4)
    of = HALTINGS[name].settings
    settings = SETTINGS | {"epsilon": 0.2, "max_steps": 12, "min_confidence": 0.4}
    config = of(**{field: settings[field] for field in of.__dataclass_fields__})
    halting = load_class(HALTINGS[name].halting)(config, SIZE, **others)
    for parameter in halting.parameters():
        parameter.data.mul_(3 if parameter.dim() > 1 else 1)
    return halting.double() if double else halting


def parts(double: bool = True) -> tuple[nn.Module, nn.Linear, Tensor]:
    """A step, a classifier and states [2, 5, 8]."""
    torch.manual_seed(3)
    step, classify = nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh()), nn.Linear(SIZE, 3)
    states = 3 * torch.randn(2, 5, SIZE)
    if double:
        return step.double(), classify.double(), states.double()
    return step, classify, states


LABELS = torch.tensor([[1, 2, 0, 1, 2], [0, 2, 1, 1, 0]])
