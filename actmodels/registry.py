"""Models by name: network and, unless ACT, halting mechanism (`hop_attention_dact`). No torch."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields, replace
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from actmodels import configs

NetworkConfig = Any  # one of the dataclasses that MODELS names
HaltingConfig = Any  # one of those that HALTINGS names


@dataclass(frozen=True)
class HaltingMechanism:
    """A halting mechanism."""

    title: str  # name in reports
    settings: type[HaltingConfig]  # configuration class
    halting: str  # class as module:name


@dataclass(frozen=True)
class Architecture:
    """A model."""

    model: str  # class as module:name
    network: type[NetworkConfig]  # configuration class
    halting: HaltingMechanism | None = None  # None for a model without steps
    reads_parses: bool = False
    attends_by_word: bool = False  # its attention is traced, though it has no steps

    @property
    def references(self) -> list[str]:
        return [self.model, self.halting.halting] if self.halting else [self.model]


HALTINGS = {
    name: HaltingMechanism(title, getattr(configs, f"{c}Config"), f"actmodels.halting.{module}:{c}")
    for name, title, module, c in (
        ("act", "ACT", "act", "Act"),
        ("fixed_steps", "fixed steps", "base", "FixedSteps"),
        ("ponder_net", "PonderNet", "ponder_net", "PonderNet"),
        ("dact", "DACT", "dact", "Dact"),
        ("supervised_act", "supervised ACT", "act", "SupervisedAct"),
        ("target_steps", "target steps", "act", "TargetSteps"),
        ("mlp_act", "ACT with an MLP", "act", "MlpAct"),
        ("change_act", "ACT on changes", "act", "ChangeAct"),
        ("uniform_ponder_net", "uniform PonderNet", "ponder_net", "UniformPonderNet"),
        ("confidence_exit", "exit by confidence", "early_exit", "ConfidenceExit"),
        ("patience_exit", "exit by patience", "early_exit", "PatienceExit"),
        ("step_act", "ACT by step", "act", "StepAct"),
        ("random_steps", "random steps", "random_steps", "RandomSteps"),
        ("fixed_point_exit", "exit at a fixed point", "early_exit", "FixedPointExit"),
        ("correctness_exit", "exit by correctness", "early_exit", "CorrectnessExit"),
    )
}


def model_with(name: str, halting: str) -> str:
    """Return the name of a model with another halting mechanism."""
    return name if halting == "act" else f"{name}_{halting}"


_DECOMPOSABLE = ("models.decomposable_attention", configs.DecomposableAttentionConfig)
_ADAPTIVE = ("models.adaptive_attention", configs.AdaptiveAttentionConfig)
_ITERATIVE = ("models.iterative_attention", configs.IterativeAttentionConfig)
_HOP = ("models.hop_attention", configs.HopAttentionConfig)
_CONDITIONAL = ("models.conditional", configs.ConditionalConfig)
_LSTM = ("models.lstm_encoders", configs.LstmEncodersConfig)
_TRANSFORMER = ("models.transformer", configs.TransformerConfig)
_TREE = ("models.tree_matching", configs.LstmEncodersConfig)
_SPINN = ("models.spinn", configs.SpinnConfig)
_PUBLISHED_DECOMPOSABLE = ("published_2016", configs.PublishedDecomposableAttentionConfig)
_PUBLISHED_ADAPTIVE = ("published_2016", configs.PublishedAdaptiveAttentionConfig)


def _model(network: tuple[str, type], name: str, **others: Any) -> Architecture:
    """Return the model of class `name` in the file and with the configuration of `network`."""
    return Architecture(f"actmodels.{network[0]}:{name}", network[1], **others)


def _in_steps(name: str, network: tuple[str, type], model: str) -> dict[str, Architecture]:
    """Return a model that infers in steps with each halting mechanism, by name."""
    mechanisms = HALTINGS.items()
    return {model_with(name, key): _model(network, model, halting=one) for key, one in mechanisms}


MODELS: dict[str, Architecture] = {
    "decomposable_attention": _model(_DECOMPOSABLE, "DecomposableAttention"),
    **_in_steps("adaptive_attention", _ADAPTIVE, "AdaptiveAttention"),
    **_in_steps("compare_adaptive_attention", _ADAPTIVE, "CompareAdaptiveAttention"),
    **_in_steps("iterative_attention", _ITERATIVE, "IterativeAttention"),
    **_in_steps("hop_attention", _HOP, "HopAttention"),
    "decomposable_intra_attention": _model(_DECOMPOSABLE, "DecomposableIntraAttention"),
    "mean_pool_decomposable_attention": _model(_DECOMPOSABLE, "MeanPoolDecomposableAttention"),
    "pool_first_decomposable_attention": _model(_DECOMPOSABLE, "PoolFirstDecomposableAttention"),
    "lstm_encoders": _model(_LSTM, "LstmEncoders"),
    "conditional_encoding": _model(_CONDITIONAL, "ConditionalEncoding"),
    "conditional_attention": _model(_CONDITIONAL, "ConditionalAttention", attends_by_word=True),
    "word_by_word_attention": _model(_CONDITIONAL, "WordByWordAttention", attends_by_word=True),
    "transformer": _model(_TRANSFORMER, "Transformer"),
    "nti_tree_matching": _model(_TREE, "TreeMatching"),
    "spinn_pi": _model(_SPINN, "Spinn", reads_parses=True),
    "decomposable_attention_as_published": _model(
        _PUBLISHED_DECOMPOSABLE, "PublishedDecomposableAttention"
    ),
    "adaptive_attention_as_published": _model(
        _PUBLISHED_ADAPTIVE, "PublishedAdaptiveAttention", halting=HALTINGS["act"]
    ),
}


def networks_in_steps() -> list[str]:
    """Return the names of the networks that have every halting mechanism."""
    return [name for name in MODELS if model_with(name, "fixed_steps") in MODELS]


def register_halting(name: str, title: str) -> Callable[[type], type]:
    """Return a decorator that registers a Halting, with every network, under a name.

    The class has its dataclass of settings as `settings`. title: its name in reports.
    """

    def register(halting: Any) -> Any:
        mechanism = HaltingMechanism(title, halting.settings, reference_of(halting))
        for network in networks_in_steps():
            MODELS[model_with(network, name)] = replace(MODELS[network], halting=mechanism)
        HALTINGS[name] = mechanism
        return halting

    return register


def register_model(name: str, **others: Any) -> Callable[[type], type]:
    """Return a decorator that registers a PairModel under a name.

    The class has its dataclass of settings as `settings`. One with `in_steps = True` is registered
    with every halting mechanism. others: fields of Architecture.
    """

    def register(model: Any) -> Any:
        one = Architecture(reference_of(model), model.settings, **others)
        if getattr(model, "in_steps", False):
            for key, halting in HALTINGS.items():
                MODELS[model_with(name, key)] = replace(one, halting=halting)
        else:
            MODELS[name] = one
        return model

    return register


def reference_of(of: type) -> str:
    """Return the reference `module:name` of a class."""
    return f"{of.__module__}:{of.__qualname__}"


def first_network(names: Iterable[str]) -> str | None:
    """Return the first name of a network that has every halting mechanism; None without one."""
    return next((name for name in names if name in networks_in_steps()), None)


def is_adaptive(name: str) -> bool:
    """Return whether a model chooses its number of steps for each pair."""
    halting = MODELS[name].halting if name in MODELS else None
    fixed = (configs.FixedStepsConfig, configs.RandomStepsConfig)
    return halting is not None and halting.settings not in fixed


def load_class(reference: str) -> Any:
    """Import a class by its reference `module:name`."""
    module, name = reference.split(":")
    return getattr(import_module(module), name)


def deviations(name: str) -> set[str]:
    """Return the settings of the 2016 code's deviations from a model; empty without any."""
    twin = f"{name}_as_published"
    if twin not in MODELS:
        return set()
    settings = {field.name for field in fields(MODELS[name].network)}
    return {field.name for field in fields(MODELS[twin].network)} - settings


def published_model(name: str, settings: Collection[str]) -> str:
    """Return the model with all `settings`: `name`, or its twin with the 2016 deviations."""
    return f"{name}_as_published" if deviations(name) & set(settings) else name


# Packages register models and mechanisms by the decorators above, in modules that they name in the
# entry points of the group `actmodels`.
for plugin in entry_points(group="actmodels"):
    try:
        plugin.load()
    except Exception as error:
        owner = plugin.dist.name if plugin.dist else "a package"
        raise ImportError(
            f"{owner} registers models in {plugin.value}, which cannot be imported: {error}; "
            f"repair it, or run: pip uninstall {owner}"
        ) from error
