"""Configuration of a multi-hop trial: a pair model, trained on streamed pairs. Imports no torch."""

from dataclasses import dataclass
from typing import Annotated

from actmodels.multihop.words import MAX_HOPS
from actmodels.registry import MODELS
from actmodels.trial_config import TrialConfig
from actmodels.validators import BatchSize, NonNegativeInt, Range, Steps, UnitInterval

Hops = Annotated[int, Range(ge=1, le=MAX_HOPS)]


@dataclass(frozen=True)
class StreamConfig:
    """The stream of new training pairs and its curriculum (ours)."""

    # maximum depth. Training starts at depth 1; the next depth joins when dev accuracy at the last
    # one reaches join_accuracy
    max_hops: Hops
    join_accuracy: UnitInterval
    # maximum steps for each joined depth, until all depths have joined; the first hops are learned
    # faster in few steps
    steps_per_hop: Steps
    updates_per_epoch: BatchSize  # updates between evaluations on dev
    ponder_delay: NonNegativeInt  # epochs without ponder cost after the last depth has joined


@dataclass(frozen=True)
class MultihopTrialConfig(TrialConfig):
    """Everything but code and dev pairs that determines a trial's result."""

    loader = "actmodels.multihop.training:multihop_data"
    trainer = "actmodels.multihop.training:MultihopTraining"
    fused_trainer = None

    stream: StreamConfig

    def cross_field_errors(self) -> list[str]:
        parses = f"{self.model} reads parses; multi-hop pairs have none"
        null = "null_token is true; must be false, as multi-hop pairs have none"
        return [parses] * MODELS[self.model].reads_parses + [null] * self.input.null_token

    @classmethod
    def part_types(cls, model: str) -> dict[str, type]:
        return super().part_types(model) | {"stream": StreamConfig}
