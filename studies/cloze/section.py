"""Section `cloze` of params.yaml: the cloze questions, and the readers compared on them."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from actmodels import validators
from pipeline.parameters.rules import unknown_keys
from pipeline.parameters.schema import Params
from pipeline.parameters.section import (
    NON_EMPTY,
    SPLITS,
    UNIQUE,
    Fetched,
    Keys,
    Limits,
    Name,
    ParamsSection,
    Pattern,
    Seeds,
    Settings,
    TextSource,
    each,
)
from pipeline.parameters.studies import StudySection
from pipeline.parameters.trials import Trials, expand
from studies.cloze.config import PARTS, ReaderTrialConfig, build_reader_trial

CONTEXT_LINES = 20  # sentences of a document, before the query (Hill et al. 2015)
WDW = "WDW"  # the only question type of Who-Did-What
READER = dict(validators.settings_of(*PARTS.values()))
del READER["strategy"], READER["steps"]  # the axes of a study


class ClozeText(ParamsSection):
    source: TextSource | None
    tokenized: bool
    paragraphs: Literal["lines", "empty_lines"]
    section_pattern: Pattern
    section_sentences: Annotated[int, validators.Between(ge=CONTEXT_LINES + 1, le=validators.MOST)]
    left_out_pattern: Pattern
    stride: validators.Count
    min_noun_count: validators.Count
    min_noun_share: validators.UnitInterval
    dev_share: validators.UnitInterval
    test_share: validators.UnitInterval
    seed: validators.NonNegativeInt


class Cbt(Fetched):
    folder: Name


class WhoDidWhat(ParamsSection):
    train: Fetched | None
    dev: Fetched | None
    test: Fetched | None
    names_seed: validators.NonNegativeInt


class Data(ParamsSection):
    source: Literal["text", "cbt", "whodidwhat"]
    question_types: Annotated[list[Literal["NE", "CN"]], NON_EMPTY, UNIQUE]
    text: ClozeText
    cbt: Cbt
    whodidwhat: WhoDidWhat

    def problems(self) -> Iterator[str]:
        """Yield a message for each part that the source needs and that is not set."""
        if self.source == "text":
            if self.text.source is None:
                yield "cloze.data.text.source is null; source text needs a text"
            shares = (self.text.dev_share, self.text.test_share)
            if sum(shares) >= 1:
                expected = "must leave sections for training"
                yield f"cloze.data.text.dev_share and test_share are {shares}; {expected}"
        for split in SPLITS:
            if self.source == "whodidwhat" and getattr(self.whodidwhat, split) is None:
                yield f"cloze.data.whodidwhat.{split} is not set; source whodidwhat needs its file"


class ReadingStudy(Limits):
    query_gating: Annotated[list[validators.Several], UNIQUE]
    adaptive_computation: Annotated[list[validators.Several], UNIQUE]
    settings: Annotated[Settings, Keys(READER, required=READER)]


class Study(StudySection):
    data: Data
    seeds: Seeds
    traced: validators.NonNegativeInt
    question_types: Annotated[
        dict[str, ReadingStudy], each(("NE", "CN", WDW), ReadingStudy), NON_EMPTY
    ]

    def problems(self, params: Params) -> Iterator[str]:
        """Require question types of the source."""
        yield from self.data.problems()
        key, own = "cloze.question_types", self.data.source == "whodidwhat"
        known: list[str] = [WDW] if own else list(self.data.question_types)
        yield from unknown_keys(key, self.question_types, known)

    def trials(self) -> Iterator[tuple[str, Trials[ReaderTrialConfig]]]:
        """Yield the trials of each question type."""
        for name, study in self.question_types.items():
            yield f"cloze.question_types.{name}", reader_trials(name, study, self.seeds)


def reader_trials(
    question_type: str, study: ReadingStudy, seeds: Sequence[int]
) -> Trials[ReaderTrialConfig]:
    """Yield the one-step readers, then each strategy with its numbers of steps."""
    steps_of = {"query_gating": [1, *study.query_gating]}
    steps_of["adaptive_computation"] = study.adaptive_computation
    build = partial(build_reader_trial, question_type)
    for strategy, steps in steps_of.items():
        axes: dict[str, list[Any]] = {"strategy": [strategy], "steps": steps}
        yield from expand(build, study.settings, axes, seeds, study)
