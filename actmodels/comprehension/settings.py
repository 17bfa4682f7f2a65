"""Everything, besides data and code, that decides how a reader is trained. Imports no torch.

Nothing has a default: the published values are those of Munkhdalai & Yu 2017 section 4.1, and
what they leave open is named beside each field.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

from actmodels.errors import ConfigError

Strategy = Literal["query_gating", "adaptive_computation"]
Activation = Literal["relu", "tanh", "identity"]


@dataclass(frozen=True)
class ReaderConfig:
    """Shape of the reader.

    strategy: how a step's new query is tested (sections 3.2.1 and 3.2.2); one step is the same
        model in both.
    steps: T; published 1, 2, 6, 9 and 12.
    memory_size: k, of which each direction of a BiLSTM has half; published 436.
    compose_activation: behind the one layer of the compose module; not published.
    forget_bias: constant beside the trained bias of every LSTM's forget gate; 0 is what the
        publication says, which draws all parameters alike.
    parameter_range: parameters start uniform in [-range, range); published 0.1.
    embedding_range: the same for words without a pre-trained vector; published 0.1.
    trained_embeddings: whether the word vectors are trained; published: pre-trained vectors
        initialise a layer of the model, hence true.
    dropout: share of the units of each word vector set to 0 in training; published 0.2.
    """

    strategy: Strategy
    steps: int
    memory_size: int
    compose_activation: Activation
    forget_bias: float
    parameter_range: float
    embedding_range: float
    trained_embeddings: bool
    dropout: float


@dataclass(frozen=True)
class ReadingConfig:
    """One training of a reader with Adam.

    learning_rate: published 0.001, for CBT's common nouns 0.0005.
    clip_norm: gradients are scaled to this norm at most; published 15.
    batch_size: published 32 for CBT, 25 for Who-Did-What.
    pool_size: questions in the pool that a batch is taken from; not published.
    keep_last: also train on the questions that are left when no pool can be filled any more. The
        published heuristic leaves them out of the epoch (false); they are the longest ones.
    evaluation_batch_size: questions scored at once; changes no figure.
    patience: epochs without a better dev accuracy until training stops, 0 runs max_epochs;
        published 1.
    """

    reader: ReaderConfig
    learning_rate: float
    clip_norm: float
    batch_size: int
    pool_size: int
    keep_last: bool
    evaluation_batch_size: int
    max_epochs: int
    patience: int
    seed: int

    def __post_init__(self) -> None:
        problems = [*_problems(self), *_problems(self.reader)]
        if not problems and self.pool_size < self.batch_size:
            problems.append(
                f"pool_size is {self.pool_size}; must be at least batch_size, {self.batch_size}"
            )
        if problems:
            raise ConfigError("reader", problems)


_POSITIVE = ("learning_rate", "clip_norm", "parameter_range", "embedding_range")
_COUNTS = ("steps", "batch_size", "pool_size", "evaluation_batch_size", "max_epochs")

RANGES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(_POSITIVE, (lambda v: 0 < v < float("inf"), "above 0")),
    **dict.fromkeys(_COUNTS, (lambda v: v >= 1, "at least 1")),
    "memory_size": (lambda v: v >= 2 and v % 2 == 0, "even: each direction reads into one half"),
    "dropout": (lambda v: 0 <= v < 1, "in [0, 1)"),
    "patience": (lambda v: v >= 0, "at least 0"),
    "seed": (lambda v: v >= 0, "at least 0"),
}


def _problems(part: ReaderConfig | ReadingConfig) -> list[str]:
    """One sentence for each field that is not what it must be."""
    hints = get_type_hints(type(part))
    found = []
    for field in fields(part):
        value, hint = getattr(part, field.name), hints[field.name]
        if problem := _problem(field.name, value, hint):
            found.append(f"{field.name} is {value!r}; must be {problem}")
    return found


def _problem(name: str, value: Any, hint: Any) -> str | None:
    """What a value must be, or None if it is that."""
    if hint is ReaderConfig:
        return None
    if choices := get_args(hint):
        return None if value in choices else f"one of {', '.join(choices)}"
    if hint is bool or isinstance(value, bool):
        right = hint is bool and isinstance(value, bool)
        return (
            None if right else {bool: "true or false", int: "a whole number"}.get(hint, "a number")
        )
    if not isinstance(value, int if hint is int else int | float):
        return "a whole number" if hint is int else "a number"
    holds, wording = RANGES.get(name, (lambda _: True, ""))
    return None if holds(value) else wording
