"""Section `halting` of params.yaml: the halting mechanisms compared on one network."""

from collections.abc import Iterator
from typing import Annotated

from actmodels import validators
from actmodels.registry import HALTINGS, MODELS, first_network, model_with
from actmodels.trial_config import TrialConfig, setting_types
from pipeline.parameters.rules import HALTS, absent, not_swept, unknown_keys
from pipeline.parameters.schema import Params
from pipeline.parameters.section import (
    NON_EMPTY,
    PAIRS,
    Axes,
    Keys,
    Limits,
    Seeds,
    Settings,
    axes,
    each,
    listed,
)
from pipeline.parameters.studies import StudySection


class Study(Limits, StudySection):
    model: str | None
    seeds: Seeds
    collapsed_below: validators.Positive
    mechanisms: Annotated[dict[str, Axes], each(HALTINGS, Annotated[Axes, axes(PAIRS)]), NON_EMPTY]
    settings: Annotated[Settings, Keys(PAIRS)]

    def problems(self, params: Params) -> Iterator[str]:
        """Require a swept network that halts, and settings of its mechanisms."""
        if self.model is not None:
            yield from not_swept("halting.model", self.model, params)
        known = [name for name in MODELS if model_with(name, "fixed_steps") in MODELS]
        network = first_network(params.sweep.models) if self.model is None else self.model
        if network is None:
            yield f"halting.model is null and the sweep has no model that halts: {listed(known)}"
        elif network not in known:
            yield from absent("halting.model", network, HALTS, known)
        else:
            own = f"has no effect: {network} has its own; remove it, or set it in sweep"
            for setting in sorted(setting_types(network).keys() & self.settings.keys()):
                yield f"halting.settings.{setting} {own}"
            swept = params.sweep.models[network]
            known_values = {*params.sweep.settings, *swept.settings, *swept.grid, *self.settings}
            known_values |= {name for point in swept.points for name in point}
            for name, compared in self.mechanisms.items():
                types = setting_types(model_with(network, name))
                known_values |= TrialConfig.optional_settings(model_with(network, name))
                yield from unknown_keys(f"halting.mechanisms.{name}", compared, types)
                for setting in sorted(types.keys() - known_values - compared.keys()):
                    yield f"halting.settings.{setting} is missing; {name} reads it"
