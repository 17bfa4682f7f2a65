"""The models by name: network, and halting other than ACT, as `hop_attention_dact`. No torch."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from actmodels import configs

NetworkConfig = Any  # one of the dataclasses that MODELS names
HaltingConfig = Any  # one of those that HALTINGS names


@dataclass(frozen=True)
class HaltingMechanism:
    """A kind of halting: as readers know it, its settings, and its class as module:name."""

    title: str
    settings: type[HaltingConfig]
    halting: str


@dataclass(frozen=True)
class Architecture:
    """The network of a model's name, its class as module:name; halting None: no steps."""

    model: str
    network: type[NetworkConfig]
    halting: HaltingMechanism | None = None
    reads_parses: bool = False

    @property
    def classes(self) -> list[str]:
        return [self.model, self.halting.halting] if self.halting else [self.model]


HALTINGS = {
    name: HaltingMechanism(title, getattr(configs, f"{of}Config"), f"actmodels.halting.{file}:{of}")
    for name, title, file, of in (
        ("act", "ACT", "act", "Act"),
        ("fixed_steps", "fixed steps", "fixed_steps", "FixedSteps"),
        ("ponder_net", "PonderNet", "ponder_net", "PonderNet"),
        ("dact", "DACT", "dact", "Dact"),
        ("supervised_act", "supervised ACT", "act", "SupervisedAct"),
        ("target_steps", "target steps", "act", "TargetSteps"),
    )
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


_DECOMPOSABLE = ("models.decomposable_attention", configs.DecomposableAttentionConfig)
_ADAPTIVE = ("models.adaptive_attention", configs.AdaptiveAttentionConfig)
_ITERATIVE = ("models.iterative_attention", configs.IterativeAttentionConfig)
_HOP = ("models.hop_attention", configs.HopAttentionConfig)
_CONDITIONAL = ("models.conditional", configs.ConditionalConfig)
_LSTM = ("models.lstm_encoders", configs.LstmEncodersConfig)
_TREE = ("models.tree_matching", configs.LstmEncodersConfig)
_SPINN = ("models.spinn", configs.SpinnConfig)
_PUBLISHED_DECOMPOSABLE = ("published_2016", configs.PublishedDecomposableAttentionConfig)
_PUBLISHED_ADAPTIVE = ("published_2016", configs.PublishedAdaptiveAttentionConfig)


def _of(file: tuple[str, type], name: str) -> tuple[str, type]:
    return f"actmodels.{file[0]}:{name}", file[1]


MODELS: dict[str, Architecture] = {
    "decomposable_attention": Architecture(*_of(_DECOMPOSABLE, "DecomposableAttention")),
    **in_steps("adaptive_attention", *_of(_ADAPTIVE, "AdaptiveAttention")),
    **in_steps("compare_adaptive_attention", *_of(_ADAPTIVE, "CompareAdaptiveAttention")),
    **in_steps("iterative_attention", *_of(_ITERATIVE, "IterativeAttention")),
    **in_steps("hop_attention", *_of(_HOP, "HopAttention")),
    "decomposable_intra_attention": Architecture(*_of(_DECOMPOSABLE, "DecomposableIntraAttention")),
    "mean_pool_decomposable_attention": Architecture(
        *_of(_DECOMPOSABLE, "MeanPoolDecomposableAttention")
    ),
    "pool_first_decomposable_attention": Architecture(
        *_of(_DECOMPOSABLE, "PoolFirstDecomposableAttention")
    ),
    "lstm_encoders": Architecture(*_of(_LSTM, "LstmEncoders")),
    "conditional_encoding": Architecture(*_of(_CONDITIONAL, "ConditionalEncoding")),
    "conditional_attention": Architecture(*_of(_CONDITIONAL, "ConditionalAttention")),
    "word_by_word_attention": Architecture(*_of(_CONDITIONAL, "WordByWordAttention")),
    "nti_tree_matching": Architecture(*_of(_TREE, "TreeMatching")),
    "spinn_pi": Architecture(*_of(_SPINN, "Spinn"), reads_parses=True),
    "decomposable_attention_as_published": Architecture(
        *_of(_PUBLISHED_DECOMPOSABLE, "PublishedDecomposableAttention")
    ),
    "adaptive_attention_as_published": Architecture(
        *_of(_PUBLISHED_ADAPTIVE, "PublishedAdaptiveAttention"), HALTINGS["act"]
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
