"""The sections of the studies, cloze questions among them; they are empty unless asked for."""

from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline.parameters.section import (
    Count,
    Epochs,
    Fetched,
    Halvings,
    Name,
    Natural,
    Portion,
    Positive,
    Section,
    Seeds,
    Sequences,
    Several,
    Share,
    Size,
    Switch,
)

CONTEXT_LINES = 20  # sentences of a document, before the query (Hill et al. 2015)


class Limits(Section):
    """How long a study trains."""

    max_epochs: Epochs
    patience: Natural


class Fidelity(Limits):
    """The study of what each deviation from the papers costs.

    models: model -> name of a variant -> the settings in which it differs from the winner.
    """

    seeds: Seeds
    models: dict[str, dict[str, dict[str, Any]]]


class Sizes(Section):
    """Accuracy by number of training pairs, of retrained models.

    halvings: how often the training pairs are halved. most_error: of a size that the law is
        fitted to. pairs: how many accuracy is foretold for. draws, draws_seed: of the bootstrap.
    widest: interval of an accuracy that is told.
    """

    models: list[str]
    halvings: Halvings
    most_error: Share
    pairs: Count
    draws: Sequences
    draws_seed: Natural
    widest: Share


HaltingKinds = dict[str, dict[str, list[Any]]]  # a kind -> setting -> the values compared


class Halting(Limits):
    """The comparison of the ways of halting."""

    model: str
    seeds: Seeds
    collapsed_below: Positive
    kinds: HaltingKinds


class SequenceStudy(Limits):
    """One of Graves' tasks: the ways of halting that are compared, and what all have in common.

    settings: each kind takes those that it knows; one that none of them knows is a mistake.
    """

    kinds: Annotated[HaltingKinds, Field(min_length=1)]
    settings: dict[str, Any]


class Graves(Section):
    """Adaptive computation around recurrent cells.

    drawn, drawn_seed: how many sequences the figures by difficulty are of, for characters those
        by kind of byte, and their seed.
    text: which of texts.sources characters are drawn from. read_from, read_bytes: place, in the
        part held out, and length of the passage of it that is told byte by byte.
    """

    seeds: Seeds
    drawn: Sequences
    drawn_seed: Natural
    text: Name | None
    read_from: Natural
    read_bytes: Sequences
    tasks: dict[str, SequenceStudy]


class MultihopCorpus(Section):
    """The fixed multi-hop pairs and their words.

    dev, test: pairs of each depth. beyond: depths of test past settings.max_hops.
    dimensions: of the random word vectors.
    """

    seed: Natural
    dev: Sequences
    test: Sequences
    beyond: Natural
    dimensions: Size


class Multihop(Limits):
    """Models on multi-hop pairs that are drawn during training.

    models: model -> setting -> the values compared. settings: each model takes those that it has.
    """

    seeds: Seeds
    corpus: MultihopCorpus
    models: dict[str, dict[str, list[Any]]]
    settings: dict[str, Any]


class ClozeText(Section):
    """How questions are built from one of the texts; see pipeline/sources/cloze.py.

    tokenised: words and marks stand between blanks already; else sentences are split as the Penn
        Treebank splits them.
    paragraphs: each line is one, or empty lines stand between them.
    section_pattern: a regular expression that fits a whole line which begins a section, such as
        a title; such lines are left out. Empty: sections are `section_sentences` sentences long.
    left_out_pattern: one for other lines to leave out, such as lesser titles; empty for none.
    stride: sentences from one question's first to the next one's; 21 gives questions that share
        no text, 1 as many as there are.
    min_noun_count, min_noun_share: when a word is a common noun (`common_nouns`).
    dev_share, test_share: of the sections, drawn at random; the others are for training.
    seed: of what is drawn; a question depends on the seed and its own section alone.
    """

    name: Name | None
    tokenised: Switch
    paragraphs: Literal["lines", "empty_lines"]
    section_pattern: str
    section_sentences: Count
    left_out_pattern: str
    stride: Count
    min_noun_count: Count
    min_noun_share: Portion
    dev_share: Portion
    test_share: Portion
    seed: Natural


class Cbt(Fetched):
    """Where the archive of the Children's Book Test comes from."""

    folder: Name


class WhoDidWhat(Section):
    """The user's licensed files of Who-Did-What.

    names_seed: of the numbers that stand for names.
    """

    train: Fetched | None
    dev: Fetched | None
    test: Fetched | None
    names_seed: Natural


class Questions(Section):
    """Which cloze questions."""

    source: Literal["none", "text", "cbt", "whodidwhat"]
    kinds: Annotated[list[Literal["NE", "CN"]], Field(min_length=1)]
    lowercase: Switch
    text: ClozeText
    cbt: Cbt
    whodidwhat: WhoDidWhat


class ReadingStudy(Limits):
    """What is compared on one kind of questions: numbers of steps, by strategy."""

    one_step: Switch
    query_gating: list[Several]
    adaptive_computation: list[Several]
    settings: dict[str, Any]


class Nse(Section):
    """Neural Semantic Encoders on cloze questions.

    traced: how many dev questions are followed step by step.
    """

    seeds: Seeds
    traced: Natural
    kinds: dict[str, ReadingStudy]
