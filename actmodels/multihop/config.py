"""What a multi-hop trial is: a model of pairs, trained on pairs that are drawn as it goes.

Imports no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from actmodels.multihop.words import MAX_HOPS
from actmodels.registry import MODELS
from actmodels.trial_config import TrialConfig, model_parts, parts_of
from actmodels.validators import BatchSize, NonNegativeInt, Range, Steps, UnitInterval, settings_of

Hops = Annotated[int, Range(ge=1, le=MAX_HOPS)]


@dataclass(frozen=True)
class StreamConfig:
    """Fresh pairs for each update, and the curriculum they follow (ours).

    max_hops: the deepest pairs that are trained on. Pairs of one hop come first; the next depth
        joins when dev accuracy at the last one reaches join_accuracy.
    steps_per_hop: until all depths have joined, a model takes at most this number of steps for
        each joined depth; few steps learn the first hops fast.
    updates_per_epoch: dev is scored after so many.
    ponder_delay: epochs without a price for steps after the last depth has joined.
    """

    max_hops: Hops
    join_accuracy: UnitInterval
    steps_per_hop: Steps
    updates_per_epoch: BatchSize
    ponder_delay: NonNegativeInt


@dataclass(frozen=True)
class MultihopTrialConfig(TrialConfig):
    """Everything, besides code and the dev pairs, that decides a trial's result."""

    stream: StreamConfig

    def cross_field_errors(self) -> list[str]:
        """A model that needs what streamed pairs do not have."""
        parses = f"{self.model} reads parses; multi-hop pairs have none"
        null = "null_token is true; must be false, as multi-hop pairs have none"
        return [parses] * MODELS[self.model].reads_parses + [null] * self.input.null_token

    @property
    def parts(self) -> list[Any]:
        return [*super().parts, self.stream]


def multihop_setting_types(model: str) -> dict[str, Any]:
    """Name and type of every setting of such trials."""
    return settings_of(*parts_of(model).values(), StreamConfig)


def build_multihop_trial(
    model: str, settings: Mapping[str, Any], **limits: Any
) -> MultihopTrialConfig:
    """Assemble a trial from flat settings; see actmodels.trial_config.build_trial."""
    parts = model_parts(model, settings, stream=StreamConfig)
    return MultihopTrialConfig(model=model, **limits, **parts)
