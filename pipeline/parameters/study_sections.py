"""The sections of the studies and of the cloze questions; empty unless a study is configured."""

# ruff: noqa: D101  (params.yaml documents each section and key)

from typing import Annotated, Any, Literal

from actmodels import validators
from actmodels.cloze.config import PARTS
from actmodels.multihop.config import StreamConfig
from actmodels.registry import HALTINGS, MODELS
from actmodels.sequences.config import HALTING_MECHANISMS, TASKS, sequence_setting_types
from actmodels.trial_config import setting_types
from pipeline.parameters.section import (
    NON_EMPTY,
    UNIQUE,
    Fetched,
    Keys,
    Name,
    Pattern,
    Section,
    Seeds,
    axes,
    each,
)

CONTEXT_LINES = 20  # sentences of a document, before the query (Hill et al. 2015)
WDW = "WDW"  # the only question type of Who-Did-What
# Types of the settings of all trials, by name; pipeline.parameters.trials picks those of a trial.
LIMITS = {"max_epochs": validators.Epochs, "patience": validators.NonNegativeInt}
PAIRS = {name: of for model in MODELS for name, of in setting_types(model).items()}
MULTIHOP = PAIRS | validators.settings_of(StreamConfig)
SEQUENCES = {
    name: of
    for task in TASKS
    for mechanism in HALTING_MECHANISMS
    for name, of in sequence_setting_types(task, mechanism).items()
}
READER = dict(validators.settings_of(*PARTS.values()))
del READER["strategy"], READER["steps"]  # the axes of a study
Settings = dict[str, Any]
Axes = dict[str, list[Any]]  # setting -> compared values


class Limits(Section):
    max_epochs: validators.Epochs
    patience: validators.NonNegativeInt


class Fidelity(Limits):
    seeds: Seeds
    models: Annotated[
        dict[str, dict[str, Settings]],
        each(MODELS, dict[str, Annotated[Settings, Keys(PAIRS | LIMITS)]]),
    ]


class Sizes(Section):
    models: Annotated[list[str], UNIQUE]
    halvings: Annotated[int, validators.Range(ge=1, le=20)]  # to one in a million
    max_error: validators.HalfOpenUnitInterval
    pairs: validators.Count
    n_bootstrap: validators.BatchSize
    bootstrap_seed: validators.NonNegativeInt
    max_ci_width: validators.HalfOpenUnitInterval


class Halting(Limits):
    model: str | None
    seeds: Seeds
    collapsed_below: validators.Positive
    mechanisms: Annotated[dict[str, Axes], each(HALTINGS, Annotated[Axes, axes(PAIRS)])]


class SequenceStudy(Limits):
    """One of Graves' tasks; each halting mechanism takes the settings that it has."""

    mechanisms: Annotated[
        dict[str, Axes], each(HALTING_MECHANISMS, Annotated[Axes, axes(SEQUENCES)]), NON_EMPTY
    ]
    settings: Annotated[Settings, Keys(SEQUENCES)]


class Sequences(Section):
    seeds: Seeds
    drawn: validators.BatchSize
    drawn_seed: validators.NonNegativeInt
    text: Name | None
    read_from: validators.NonNegativeInt
    read_bytes: validators.BatchSize
    tasks: Annotated[dict[str, SequenceStudy], each(TASKS, SequenceStudy)]


class MultihopCorpus(Section):
    seed: validators.NonNegativeInt
    dev: validators.BatchSize
    test: validators.BatchSize
    beyond: validators.NonNegativeInt
    dimensions: validators.Size


class Multihop(Limits):
    seeds: Seeds
    corpus: MultihopCorpus
    models: Annotated[dict[str, Axes], each(MODELS, Annotated[Axes, axes(MULTIHOP)])]
    settings: Annotated[Settings, Keys(MULTIHOP, required=["max_hops"])]


class ClozeText(Section):
    name: Name | None
    tokenized: bool
    paragraphs: Literal["lines", "empty_lines"]
    section_pattern: Pattern
    section_sentences: Annotated[int, validators.Range(ge=CONTEXT_LINES + 1, le=validators.MOST)]
    left_out_pattern: Pattern
    stride: validators.Count
    min_noun_count: validators.Count
    min_noun_share: validators.UnitInterval
    dev_share: validators.UnitInterval
    test_share: validators.UnitInterval
    seed: validators.NonNegativeInt


class Cbt(Fetched):
    folder: Name


class WhoDidWhat(Section):
    train: Fetched | None
    dev: Fetched | None
    test: Fetched | None
    names_seed: validators.NonNegativeInt


class ClozeData(Section):
    source: Literal["none", "text", "cbt", "whodidwhat"]
    question_types: Annotated[list[Literal["NE", "CN"]], NON_EMPTY, UNIQUE]
    lowercase: bool
    text: ClozeText
    cbt: Cbt
    whodidwhat: WhoDidWhat


class ReadingStudy(Limits):
    """The numbers of steps compared on one question type, by strategy."""

    one_step: bool
    query_gating: Annotated[list[validators.Several], UNIQUE]
    adaptive_computation: Annotated[list[validators.Several], UNIQUE]
    settings: Annotated[Settings, Keys(READER, required=READER)]


class Cloze(Section):
    seeds: Seeds
    traced: validators.NonNegativeInt
    question_types: Annotated[dict[str, ReadingStudy], each(("NE", "CN", WDW), ReadingStudy)]
