"""Halting mechanisms for any step function; the guide is docs/library.md.

`adapt_steps(step, state, halting, classify)` applies `step` until each example has halted, and
returns a `Prediction`; `halting.objective(prediction, targets)` is the loss. `halting` is a module
built from its configuration and the size of the states: `Act(ActConfig(...), state=64)`. Every
leading dimension is batch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from actmodels.registry import HALTINGS

if TYPE_CHECKING:
    from actmodels.configs import (
        ActConfig,
        ChangeActConfig,
        ConfidenceExitConfig,
        DactConfig,
        FixedStepsConfig,
        MlpActConfig,
        PatienceExitConfig,
        PonderNetConfig,
        SupervisedActConfig,
        TargetStepsConfig,
        UniformPonderNetConfig,
    )
    from actmodels.halting.act import Act, SupervisedAct, TargetSteps
    from actmodels.halting.base import FixedSteps, Halting, PonderedHalting
    from actmodels.halting.dact import Dact
    from actmodels.halting.early_exit import ConfidenceExit, PatienceExit
    from actmodels.halting.loop import adapt_steps, unroll
    from actmodels.halting.ponder_net import PonderNet
    from actmodels.halting.uniform_ponder_net import UniformPonderNet
    from actmodels.halting.units import ChangeAct, MlpAct
    from actmodels.prediction import Prediction

__all__ = [
    "Act",
    "ActConfig",
    "ChangeAct",
    "ChangeActConfig",
    "ConfidenceExit",
    "ConfidenceExitConfig",
    "Dact",
    "DactConfig",
    "FixedSteps",
    "FixedStepsConfig",
    "Halting",
    "MlpAct",
    "MlpActConfig",
    "PatienceExit",
    "PatienceExitConfig",
    "PonderNet",
    "PonderNetConfig",
    "PonderedHalting",
    "Prediction",
    "SupervisedAct",
    "SupervisedActConfig",
    "TargetSteps",
    "TargetStepsConfig",
    "UniformPonderNet",
    "UniformPonderNetConfig",
    "adapt_steps",
    "unroll",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # on first use: a trial loads, and its key has, only its own mechanism
    MODULES = dict(reversed(one.halting.split(":")) for one in HALTINGS.values())
    MODULES |= dict.fromkeys(("Halting", "PonderedHalting"), "actmodels.halting.base")
    MODULES |= dict.fromkeys(("adapt_steps", "unroll"), "actmodels.halting.loop")
    MODULES["Prediction"] = "actmodels.prediction"

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(MODULES.get(name, "actmodels.configs")), name)
