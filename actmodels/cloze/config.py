"""Configuration of a trial on cloze questions. Imports no torch.

"Published" values are those of Munkhdalai & Yu 2017 section 4.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from actmodels.trial_config import BaseTrialConfig, sorted_into
from actmodels.validators import BatchSize, Bias, Positive, Range, Share, Size, Steps

Strategy = Literal["query_gating", "adaptive_computation"]
Activation = Literal["relu", "tanh", "identity"]


@dataclass(frozen=True)
class ReaderConfig:
    """Shape of the reader.

    strategy: how a step's new query is tested (sections 3.2.1 and 3.2.2).
    steps: T; published 1, 2, 6, 9 and 12.
    memory_size: k, of which each direction of a BiLSTM has half; published 436.
    compose_activation: behind the one layer of the compose module; not published.
    forget_bias: constant in every LSTM's forget gate; published 0.
    parameter_range: parameters start uniform in [-range, range); published 0.1.
    embedding_range: the same for words without a pre-trained vector; published 0.1.
    trained_embeddings: whether the word vectors are trained; published true.
    dropout: share of the units of each word vector set to 0 in training; published 0.2.
    """

    strategy: Strategy
    steps: Steps
    memory_size: Annotated[Size, Range(multiple_of=2)]
    compose_activation: Activation
    forget_bias: Bias
    parameter_range: Positive
    embedding_range: Positive
    trained_embeddings: bool
    dropout: Share


@dataclass(frozen=True)
class ReaderTrainConfig:
    """Optimisation with Adam.

    learning_rate: published 0.001, for CBT's common nouns 0.0005.
    clip_norm: gradients are scaled to this norm at most; published 15.
    batch_size: published 32 for CBT, 25 for Who-Did-What.
    pool_size: questions in the pool that a batch is taken from; not published.
    keep_last: train on the questions left when no pool can be filled; published false.
    evaluation_batch_size: questions scored together; changes no figure.
    """

    learning_rate: Positive
    clip_norm: Positive
    batch_size: BatchSize
    pool_size: BatchSize
    keep_last: bool
    evaluation_batch_size: BatchSize


PARTS = {"reader": ReaderConfig, "training": ReaderTrainConfig}


@dataclass(frozen=True)
class ReaderTrialConfig(BaseTrialConfig):
    """Everything but code and data that decides a trial's result; questions: kind, such as NE."""

    called: ClassVar[str] = "reader"

    model: str = field(init=False)
    questions: str
    reader: ReaderConfig
    training: ReaderTrainConfig

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", f"nse_{self.reader.strategy}")
        super().__post_init__()

    def cross_field_errors(self) -> list[str]:
        pool, batch = self.training.pool_size, self.training.batch_size
        return [f"pool_size is {pool}; must be at least batch_size, {batch}"] * (pool < batch)

    @property
    def labels(self) -> dict[str, str]:
        return {"questions": self.questions}


def build_reader_trial(
    questions: str, settings: Mapping[str, Any], **limits: Any
) -> ReaderTrialConfig:
    """Assemble a trial from flat settings; see actmodels.trial_config.build_trial."""
    parts = sorted_into(PARTS, settings, "the reader", ReaderTrialConfig.called)
    return ReaderTrialConfig(questions=questions, **limits, **parts)
