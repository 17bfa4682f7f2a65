"""The sections of cloze questions and of their readers, which are empty unless asked for."""

from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline.parameters.section import (
    Count,
    Name,
    Natural,
    Section,
    Sha256,
    Switch,
    Url,
    must_be,
)

Manifold = Annotated[int, Field(ge=2), must_be("a whole number of at least 2")]


class ClozeText(Section):
    """How questions are built from one of the texts; see pipeline/sources/cloze.py."""

    name: Name | None
    tokenised: Switch
    paragraphs: Literal["lines", "empty_lines"]
    section_pattern: str
    section_sentences: Count
    left_out_pattern: str
    stride: Count
    min_noun_count: Count
    min_noun_share: float
    dev_share: float
    test_share: float
    seed: Natural


class Cbt(Section):
    """Where the archive of the Children's Book Test comes from."""

    urls: Annotated[list[Url], Field(min_length=1)]
    sha256: Sha256
    bytes: Count | None
    folder: Name


class QuestionFile(Section):
    """A file of one split, by its digest."""

    urls: Annotated[list[Url], Field(min_length=1)]
    sha256: Sha256
    bytes: Count | None


class WhoDidWhat(Section):
    """The user's licensed files of Who-Did-What.

    names_seed: of the numbers that stand for names.
    """

    train: QuestionFile | None
    dev: QuestionFile | None
    test: QuestionFile | None
    names_seed: Natural


class Questions(Section):
    """Which cloze questions."""

    source: Literal["none", "text", "cbt", "whodidwhat"]
    kinds: Annotated[list[Literal["NE", "CN"]], Field(min_length=1)]
    lowercase: Switch
    text: ClozeText
    cbt: Cbt
    whodidwhat: WhoDidWhat


class ReadingStudy(Section):
    """What is compared on one kind of questions: numbers of steps, by strategy."""

    max_epochs: Count
    patience: Natural
    one_step: Switch
    query_gating: list[Manifold]
    adaptive_computation: list[Manifold]
    settings: dict[str, Any]


class Nse(Section):
    """Neural Semantic Encoders on cloze questions.

    traced: how many dev questions are followed step by step.
    """

    seeds: Annotated[list[Natural], Field(min_length=1)]
    resamples: Count
    traced: Natural
    kinds: dict[str, ReadingStudy]
