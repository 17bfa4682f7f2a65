"""Halting mechanisms for any step function; the guide is docs/library.md.

`adapt_steps(step, state, halting, classify)` applies `step` until each example has halted, and
returns a `Prediction`; `halting.objective(prediction, targets)` is the loss. `halting` is a module
built from its configuration and the size of the states: `Act(ActConfig(), state=64)`.
`ActConfig.help()` lists the settings of a mechanism.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from actmodels.registry import HALTINGS

if TYPE_CHECKING:
    from actmodels.configs import ActConfig as ActConfig
    from actmodels.configs import ChangeActConfig as ChangeActConfig
    from actmodels.configs import ConfidenceExitConfig as ConfidenceExitConfig
    from actmodels.configs import CorrectnessExitConfig as CorrectnessExitConfig
    from actmodels.configs import DactConfig as DactConfig
    from actmodels.configs import FixedPointExitConfig as FixedPointExitConfig
    from actmodels.configs import FixedStepsConfig as FixedStepsConfig
    from actmodels.configs import MlpActConfig as MlpActConfig
    from actmodels.configs import PatienceExitConfig as PatienceExitConfig
    from actmodels.configs import PonderNetConfig as PonderNetConfig
    from actmodels.configs import RandomStepsConfig as RandomStepsConfig
    from actmodels.configs import StepActConfig as StepActConfig
    from actmodels.configs import SupervisedActConfig as SupervisedActConfig
    from actmodels.configs import TargetStepsConfig as TargetStepsConfig
    from actmodels.configs import UniformPonderNetConfig as UniformPonderNetConfig
    from actmodels.halting.act import Act as Act
    from actmodels.halting.act import ChangeAct as ChangeAct
    from actmodels.halting.act import MlpAct as MlpAct
    from actmodels.halting.act import StepAct as StepAct
    from actmodels.halting.act import SupervisedAct as SupervisedAct
    from actmodels.halting.act import TargetSteps as TargetSteps
    from actmodels.halting.base import FixedSteps as FixedSteps
    from actmodels.halting.base import Halting as Halting
    from actmodels.halting.base import PonderedHalting as PonderedHalting
    from actmodels.halting.dact import Dact as Dact
    from actmodels.halting.early_exit import ConfidenceExit as ConfidenceExit
    from actmodels.halting.early_exit import CorrectnessExit as CorrectnessExit
    from actmodels.halting.early_exit import FixedPointExit as FixedPointExit
    from actmodels.halting.early_exit import PatienceExit as PatienceExit
    from actmodels.halting.layers import AdaptiveGRU as AdaptiveGRU
    from actmodels.halting.layers import AdaptiveLSTM as AdaptiveLSTM
    from actmodels.halting.layers import AdaptiveRNN as AdaptiveRNN
    from actmodels.halting.layers import UniversalTransformerBlock as UniversalTransformerBlock
    from actmodels.halting.loop import adapt_steps as adapt_steps
    from actmodels.halting.loop import unroll as unroll
    from actmodels.halting.ponder_net import PonderNet as PonderNet
    from actmodels.halting.ponder_net import UniformPonderNet as UniformPonderNet
    from actmodels.halting.random_steps import RandomSteps as RandomSteps
    from actmodels.halting.steps import Steps as Steps
    from actmodels.halting.steps import halting_distribution as halting_distribution
    from actmodels.halting.steps import truncate as truncate
    from actmodels.prediction import Prediction as Prediction
    from actmodels.registry import register_halting as register_halting
else:  # on first use: a trial loads, and its key has, only its own mechanism
    MODULES = dict(reversed(one.halting.split(":")) for one in HALTINGS.values())
    MODULES |= dict.fromkeys(("Halting", "PonderedHalting"), "actmodels.halting.base")
    of_steps = ("Steps", "halting_distribution", "truncate")
    MODULES |= dict.fromkeys(of_steps, "actmodels.halting.steps")
    MODULES |= dict.fromkeys(("adapt_steps", "unroll"), "actmodels.halting.loop")
    layers = ("AdaptiveGRU", "AdaptiveLSTM", "AdaptiveRNN", "UniversalTransformerBlock")
    MODULES |= dict.fromkeys(layers, "actmodels.halting.layers")
    MODULES |= {one.settings.__name__: "actmodels.configs" for one in HALTINGS.values()}
    MODULES["Prediction"] = "actmodels.prediction"
    MODULES["register_halting"] = "actmodels.registry"
    __all__ = sorted(MODULES)

    def __dir__():
        return __all__

    def __getattr__(name):
        if name not in MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(MODULES[name]), name)
