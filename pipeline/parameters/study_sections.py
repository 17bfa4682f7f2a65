"""The sections of the studies, cloze questions among them; they are empty unless asked for."""

# ruff: noqa: D101  (params.yaml says what each section and key means)

from typing import Annotated, Any, Literal

from actmodels import values
from actmodels.config import setting_types
from actmodels.multihop.config import StreamConfig
from actmodels.reader.config import PARTS
from actmodels.registry import HALTINGS, MODELS
from actmodels.sequences.config import HALTING_KINDS, TASKS, sequence_setting_types
from pipeline.parameters.section import (
    ONCE,
    SOME,
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
WDW = "WDW"  # the one kind of questions that Who-Did-What has
# The types of all settings of trials, by name; pipeline.parameters.trials tells which a trial has.
LIMITS = {
    "max_epochs": values.Epochs,
    "patience": values.Natural,
}  # what a variant may change besides settings
PAIRS = {name: of for model in MODELS for name, of in setting_types(model).items()}
MULTIHOP = PAIRS | values.settings_of(StreamConfig)
SEQUENCES = {
    name: of
    for task in TASKS
    for kind in HALTING_KINDS
    for name, of in sequence_setting_types(task, kind).items()
}
STEPPED = ("strategy", "steps")  # settings of readers that a study compares
READER = {
    name: of for name, of in values.settings_of(*PARTS.values()).items() if name not in STEPPED
}
Settings = dict[str, Any]
Axes = dict[str, list[Any]]  # setting -> the values compared


class Limits(Section):
    max_epochs: values.Epochs
    patience: values.Natural


class Fidelity(Limits):
    seeds: Seeds
    models: Annotated[
        dict[str, dict[str, Settings]],
        each(MODELS, dict[str, Annotated[Settings, Keys(PAIRS | LIMITS)]]),
    ]


class Sizes(Section):
    models: Annotated[list[str], ONCE]
    halvings: Annotated[int, values.Range(ge=1, le=20)]  # to one in a million
    most_error: values.Share
    pairs: values.Count
    draws: values.Sequences
    draws_seed: values.Natural
    widest: values.Share


class Halting(Limits):
    model: str
    seeds: Seeds
    collapsed_below: values.Positive
    kinds: Annotated[dict[str, Axes], each(HALTINGS, Annotated[Axes, axes(PAIRS)])]


class SequenceStudy(Limits):
    """One of Graves' tasks: each kind of halting takes the settings that it knows."""

    kinds: Annotated[dict[str, Axes], each(HALTING_KINDS, Annotated[Axes, axes(SEQUENCES)]), SOME]
    settings: Annotated[Settings, Keys(SEQUENCES)]


class Graves(Section):
    seeds: Seeds
    drawn: values.Sequences
    drawn_seed: values.Natural
    text: Name | None
    read_from: values.Natural
    read_bytes: values.Sequences
    tasks: Annotated[dict[str, SequenceStudy], each(TASKS, SequenceStudy)]


class MultihopCorpus(Section):
    seed: values.Natural
    dev: values.Sequences
    test: values.Sequences
    beyond: values.Natural
    dimensions: values.Size


class Multihop(Limits):
    seeds: Seeds
    corpus: MultihopCorpus
    models: Annotated[dict[str, Axes], each(MODELS, Annotated[Axes, axes(MULTIHOP)])]
    settings: Annotated[Settings, Keys(MULTIHOP, required=["max_hops"])]


class ClozeText(Section):
    name: Name | None
    tokenised: bool
    paragraphs: Literal["lines", "empty_lines"]
    section_pattern: Pattern
    section_sentences: Annotated[int, values.Range(ge=CONTEXT_LINES + 1, le=values.MOST)]
    left_out_pattern: Pattern
    stride: values.Count
    min_noun_count: values.Count
    min_noun_share: values.Portion
    dev_share: values.Portion
    test_share: values.Portion
    seed: values.Natural


class Cbt(Fetched):
    folder: Name


class WhoDidWhat(Section):
    train: Fetched | None
    dev: Fetched | None
    test: Fetched | None
    names_seed: values.Natural


class Questions(Section):
    source: Literal["none", "text", "cbt", "whodidwhat"]
    kinds: Annotated[list[Literal["NE", "CN"]], SOME, ONCE]
    lowercase: bool
    text: ClozeText
    cbt: Cbt
    whodidwhat: WhoDidWhat


class ReadingStudy(Limits):
    """What is compared on one kind of questions: numbers of steps, by strategy."""

    one_step: bool
    query_gating: Annotated[list[values.Several], ONCE]
    adaptive_computation: Annotated[list[values.Several], ONCE]
    settings: Annotated[Settings, Keys(READER, required=READER)]


class Nse(Section):
    seeds: Seeds
    traced: values.Natural
    kinds: Annotated[dict[str, ReadingStudy], each(("NE", "CN", WDW), ReadingStudy)]
