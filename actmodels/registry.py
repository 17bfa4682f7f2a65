"""The models by name: network, and for those that infer in steps, halting. Imports no torch.

Halting other than ACT is added to the network's name, as in `adaptive_attention_fixed_steps`.
"""

from collections.abc import Collection
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from actmodels import settings

NetworkConfig = Any  # one of the dataclasses that MODELS names
HaltingConfig = Any  # one of those that HALTINGS names


@dataclass(frozen=True)
class HaltingKind:
    """A kind of halting: as readers know it, its settings, and its class as module:name."""

    title: str
    settings: type[HaltingConfig]
    halting: str


@dataclass(frozen=True)
class Architecture:
    """The network of a model's name: its class as module:name and its settings.

    halting: None for a model that does not infer in steps. reads_parses: needs parses.
    """

    model: str
    network: type[NetworkConfig]
    halting: HaltingKind | None = None
    reads_parses: bool = False

    @property
    def classes(self) -> list[str]:
        return [self.model, self.halting.halting] if self.halting else [self.model]


HALTINGS = {
    "act": HaltingKind("ACT", settings.ActConfig, "actmodels.halting.act:Act"),
    "fixed_steps": HaltingKind(
        "fixed steps", settings.FixedStepsConfig, "actmodels.halting.fixed_steps:FixedSteps"
    ),
    "ponder_net": HaltingKind(
        "PonderNet", settings.PonderNetConfig, "actmodels.halting.ponder_net:PonderNet"
    ),
    "dact": HaltingKind("DACT", settings.DactConfig, "actmodels.halting.dact:Dact"),
    "supervised_act": HaltingKind(
        *("supervised ACT", settings.SupervisedActConfig),
        "actmodels.halting.act_variants:SupervisedAct",
    ),
    "target_steps": HaltingKind(
        *("target steps", settings.TargetStepsConfig), "actmodels.halting.act_variants:TargetSteps"
    ),
}


def model_with(name: str, kind: str) -> str:
    """The name of the model `name` with another kind of halting."""
    return name if kind == "act" else f"{name}_{kind}"


def in_steps(name: str, model: str, network: type[NetworkConfig]) -> dict[str, Architecture]:
    """A network that infers in steps, with every kind of halting."""
    return {
        model_with(name, kind): Architecture(model, network, halting)
        for kind, halting in HALTINGS.items()
    }


MODELS: dict[str, Architecture] = {
    "decomposable_attention": Architecture(
        "actmodels.models.decomposable_attention:DecomposableAttention",
        settings.DecomposableAttentionConfig,
    ),
    **in_steps(
        "adaptive_attention",
        "actmodels.models.adaptive_attention:AdaptiveAttention",
        settings.AdaptiveAttentionConfig,
    ),
    **in_steps(
        "comparing_adaptive_attention",
        "actmodels.models.adaptive_attention:ComparingAdaptiveAttention",
        settings.AdaptiveAttentionConfig,
    ),
    **in_steps(
        "iterative_attention",
        "actmodels.models.iterative_attention:IterativeAttention",
        settings.IterativeAttentionConfig,
    ),
    **in_steps(
        "hop_attention", "actmodels.models.hop_attention:HopAttention", settings.HopAttentionConfig
    ),
    "decomposable_intra_attention": Architecture(
        "actmodels.models.decomposable_attention:DecomposableIntraAttention",
        settings.DecomposableAttentionConfig,
    ),
    "averaged_decomposable_attention": Architecture(
        "actmodels.models.decomposable_attention:AveragedDecomposableAttention",
        settings.DecomposableAttentionConfig,
    ),
    "averaged_first_decomposable_attention": Architecture(
        "actmodels.models.decomposable_attention:AveragedFirstDecomposableAttention",
        settings.DecomposableAttentionConfig,
    ),
    "lstm_encoders": Architecture(
        "actmodels.models.lstm_encoders:LstmEncoders", settings.LstmEncodersConfig
    ),
    "conditional_encoding": Architecture(
        "actmodels.models.conditional:ConditionalEncoding", settings.ConditionalConfig
    ),
    "conditional_attention": Architecture(
        "actmodels.models.conditional:ConditionalAttention", settings.ConditionalConfig
    ),
    "word_by_word_attention": Architecture(
        "actmodels.models.conditional:WordByWordAttention", settings.ConditionalConfig
    ),
    "nti_tree_matching": Architecture(
        "actmodels.models.tree_matching:TreeMatching", settings.TreeMatchingConfig
    ),
    "spinn_pi": Architecture(
        "actmodels.models.spinn:Spinn", settings.SpinnConfig, reads_parses=True
    ),
    "decomposable_attention_as_published": Architecture(
        "actmodels.as_published:PublishedDecomposableAttention",
        settings.PublishedDecomposableAttentionConfig,
    ),
    "adaptive_attention_as_published": Architecture(
        "actmodels.as_published:PublishedAdaptiveAttention",
        settings.PublishedAdaptiveAttentionConfig,
        HALTINGS["act"],
    ),
}


def load_class(reference: str) -> Any:
    """Import the class that `module:name` refers to."""
    module, name = reference.split(":")
    return getattr(import_module(module), name)


def deviations(name: str) -> set[str]:
    """The settings that switch a model's deviations of 2016 on; empty if it has none."""
    twin = f"{name}_as_published"
    if twin not in MODELS:
        return set()
    own = {field.name for field in fields(MODELS[name].network)}
    return {field.name for field in fields(MODELS[twin].network)} - own


def as_published(name: str, settings: Collection[str]) -> str:
    """The model that has all `settings`: `name`, or its twin with the deviations of 2016."""
    return f"{name}_as_published" if deviations(name) & set(settings) else name
