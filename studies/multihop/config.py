"""Configuration of a multi-hop trial: a pair model, trained on streamed pairs. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from actmodels.registry import MODELS
from actmodels.trial_config import TrialConfig
from actmodels.validators import BatchSize, Between, NonNegativeInt, Steps, UnitInterval
from studies.multihop.words import CHAINS, THINGS

# Values of settings that are off, or that a multi-hop trial reads only with another's value.
NEVER = ("", "")
UNREAD: dict[str, tuple[float, tuple[str, str]]] = {
    "train_pairs": (0, NEVER),  # pairs are drawn
    "null_token": (False, NEVER),  # no sentence has one
    "unit_norm": (False, NEVER),
    "final_rate": (1.0, NEVER),
    "mean_norm": (0.0, NEVER),  # no vector is pre-trained
    "init_std": (0.1, ("init", "normal")),
    "adagrad_accumulator": (0.1, ("optimizer", "adagrad")),
    "oov_buckets": (1, ("oov_rule", "hashed")),
}
Hops = Annotated[int, Between(ge=1, le=len(THINGS) // CHAINS)]
Things = Annotated[int, Between(ge=CHAINS, le=len(THINGS))]
Distractors = Annotated[int, Between(ge=0, le=10)]
Fresh = Literal["none", "names", "names_and_rooms"]


@dataclass(frozen=True)
class CorpusConfig:
    """The premises (ours)."""

    things: Things  # distinct names
    chains: Things  # of facts in a premise; hypotheses ask about three
    distractors: Distractors  # facts that must not be followed, for each thing of a premise

    @property
    def max_hops(self) -> int:
        """Maximum depth: the chains of a premise share no thing."""
        return self.things // self.chains


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
    # words with new random vectors at each update, so that no network can learn them; dev has
    # vectors of its own, and so has the test
    fresh: Fresh = "none"
    keep: Literal["best", "last"] = "best"  # epoch whose weights are kept


@dataclass(frozen=True)
class MultihopTrialConfig(TrialConfig):
    """Everything but code and dev pairs that determines a trial's result."""

    loader = "studies.multihop.training:multihop_data"
    trainer = "studies.multihop.training:MultihopTraining"
    fused_trainer = static_trainer = None

    corpus: CorpusConfig
    stream: StreamConfig

    @classmethod
    def build(cls, model: str, settings: Mapping[str, Any], **limits: Any) -> Self:
        """Build a trial from flat settings; those of UNREAD may be absent."""
        values = settings.items()
        unread = {name: value for name, (value, reader) in UNREAD.items() if reader not in values}
        return super().build(model, unread | dict(settings), **limits)

    def cross_field_errors(self) -> list[str]:
        parses = f"{self.model} reads parses; multi-hop pairs have none"
        null = "null_token is true; must be false, as multi-hop pairs have none"
        hops, most = self.stream.max_hops, self.corpus.max_hops
        deep = f"max_hops is {hops}; must be at most {most}, which is things / chains"
        fresh = "fresh needs oov_rule own, by which each word has its own random vector"
        learned = self.stream.fresh != "none" and self.input.oov_rule != "own"
        problems = {parses: MODELS[self.model].reads_parses, null: self.input.null_token}
        return [
            problem
            for problem, found in (problems | {deep: hops > most, fresh: learned}).items()
            if found
        ]

    @classmethod
    def part_types(cls, model: str) -> dict[str, type]:
        return super().part_types(model) | {"corpus": CorpusConfig, "stream": StreamConfig}
