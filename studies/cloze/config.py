"""Configuration of a cloze trial. Imports no torch.

"Published" values are those of Munkhdalai & Yu 2017, section 4.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from actmodels.trial_config import BaseTrialConfig, sorted_into
from actmodels.validators import BatchSize, Between, HalfOpenUnitInterval, Positive, Size, Steps

Strategy = Literal["query_gating", "adaptive_computation"]


@dataclass(frozen=True)
class ReaderConfig:
    """Architecture of the reader."""

    strategy: Strategy  # hypothesis test of each new query (sections 3.2.1 and 3.2.2)
    steps: Steps  # T; published 1, 2, 6, 9 and 12
    # k, half of it for each direction of a BiLSTM; published 436
    memory_size: Annotated[Size, Between(multiple_of=2)]
    parameter_range: Positive  # parameters start uniform in [-range, range); published 0.1
    embedding_range: Positive  # the same for words without a pre-trained vector; published 0.1
    dropout: HalfOpenUnitInterval  # dropout rate of word vectors; published 0.2


@dataclass(frozen=True)
class ReaderTrainConfig:
    """Optimization with Adam."""

    learning_rate: Positive  # published 0.001, and 0.0005 for common nouns of CBT
    clip_norm: Positive  # maximum gradient norm; published 15
    batch_size: BatchSize  # published 32 for CBT, 25 for Who-Did-What
    pool_size: BatchSize  # questions in the pool from which a batch is selected; not published
    # train on the questions that remain when no pool can be filled; published false
    keep_last: bool
    evaluation_batch_size: BatchSize  # batch size in evaluation; changes no result


PARTS = {"reader": ReaderConfig, "training": ReaderTrainConfig}


@dataclass(frozen=True)
class ReaderTrialConfig(BaseTrialConfig):
    """Everything but code and data that determines a trial's result; questions: such as NE."""

    called = "reader"
    loader = "studies.cloze.data:reader_data"
    trainer = "studies.cloze.training:ReaderTraining"

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
    """Build a trial from flat settings; see actmodels.trial_config.build_trial."""
    parts = sorted_into(PARTS, settings, "the reader", ReaderTrialConfig.called)
    return ReaderTrialConfig(questions=questions, **limits, **parts)
