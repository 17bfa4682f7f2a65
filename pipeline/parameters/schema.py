"""The sections of params.yaml as frozen, strictly typed objects; one class per section.

A whole number is accepted where a number is expected, nothing else is converted. Rules that span
several keys are in `pipeline.parameters.rules`.
"""

# ruff: noqa: D101  (params.yaml says what each section and key means)

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from actmodels import values
from actmodels.registry import MODELS
from pipeline.parameters.section import (
    ONCE,
    SOME,
    SPLITS,
    Fetched,
    Keys,
    Name,
    Pairs,
    Place,
    Seconds,
    Section,
    Seeds,
    Split,
    axes,
    each,
    must_be,
)
from pipeline.parameters.study_sections import (
    PAIRS,
    Axes,
    Fidelity,
    Graves,
    Halting,
    Limits,
    Multihop,
    Nse,
    Questions,
    Settings,
    Sizes,
)

Feature = Literal[
    "bleu", "length", "overlap", "hypothesis_ngrams", "cross_unigrams", "cross_bigrams"
]
FACTS = (
    *("kind", "count", "age", "size", "colour", "mood", "headgear"),
    *("action", "relation", "place", "time", "day", "weather"),
)
PackSize = Annotated[
    Any,
    must_be(
        "a whole number from 1 to 1,000, or auto",
        lambda size: size == "auto" or (type(size) is int and 1 <= size <= 1000),
    ),
]
FileName = Annotated[
    str,
    must_be("a name of letters, digits, _ and -", re.compile(r"[A-Za-z0-9][\w-]*", re.A).fullmatch),
]
# what MLflow's addresses of models can hold; `.` and `..` are places in them
ModelName = Annotated[
    str,
    must_be(
        "a name of at most 200 letters of a to z, digits, dots, dashes and underscores, the "
        "first of them a letter or a digit",
        re.compile(r"[A-Za-z0-9][\w.-]{0,199}", re.A).fullmatch,
    ),
]


class Cluster(Section):
    cpus_per_trial: values.Count
    # Ray's own rule: a share of one device or whole devices
    gpus_per_trial: Annotated[
        values.Amount, must_be("whole above 1", lambda n: n <= 1 or n % 1 == 0)
    ]
    trials_per_pack: PackSize
    matmul_precision: Literal["highest", "high", "medium"]
    max_failures: Annotated[int, values.Range(ge=0, le=1000)]
    wait_for_nodes: Seconds
    wait_for_answer: Seconds
    wait_for_storage: Seconds
    dashboard: bool
    system_metrics: bool
    storage: Place
    state: Place


class Captions(Section):
    seed: values.Natural
    train: Pairs
    dev: Pairs
    test: Pairs
    unlabelled: values.Share
    max_depth: Annotated[int, values.Range(ge=1, le=6)]  # the deepest there is
    facts: Annotated[Settings, each(FACTS, values.Amount, required=FACTS)]
    common: values.Portion
    usual: values.Portion
    repeated: values.Portion
    narrower: values.Portion
    broader: values.Portion
    siblings: values.Portion
    negated: values.Portion
    lures: values.Portion


class Snli(Fetched):
    folder: Name
    labelled_pairs: Annotated[Settings, each(SPLITS, values.Count, required=SPLITS)] | None


class Corpus(Section):
    source: Literal["captions", "snli"]
    parses: bool
    captions: Captions
    snli: Snli


class Vocabulary(Section):
    size: values.Count
    count_splits: Annotated[list[Split], SOME, ONCE]
    lowercase: bool


class RandomVectors(Section):
    seed: values.Natural
    std: values.Positive


class Glove(Fetched):
    member: Name


class Vectors(Section):
    source: Literal["random", "glove"]
    dimensions: values.Size
    random: RandomVectors
    glove: Glove


class Tensors(Section):
    max_tokens: values.Count | None


class TextSource(Fetched):
    members: Annotated[list[Name], ONCE]


class Texts(Section):
    sources: dict[FileName, TextSource]


class Lexicalised(Section):
    features: Annotated[list[Feature], SOME, ONCE]
    min_count: values.Count
    regularisation: Annotated[list[values.Positive], SOME, ONCE]


def without_null(models: Any) -> Any:
    """Drop the models set to null: how a preset or a switch leaves out one of conf/base.yaml's."""
    if isinstance(models, dict):
        return {name: grid for name, grid in models.items() if grid is not None}
    return models


class ModelGrid(Section):
    """A model's trials: `settings` of all of them, before those common to all models; axes."""

    settings: Annotated[Settings, Keys(PAIRS)]
    grid: Annotated[Axes, axes(PAIRS)]


class EarlyStopping(Section):
    rule: Literal["none", "successive_halving"]
    first_epochs: values.Epochs
    keep_one_in: values.Several


class Sweep(Limits):
    seeds: Seeds
    early_stopping: EarlyStopping
    settings: Annotated[Settings, Keys(PAIRS)]
    models: Annotated[
        dict[str, ModelGrid], each(MODELS, ModelGrid), SOME, BeforeValidator(without_null)
    ]


class SelectBest(Section):
    # only the order of the grid tells any two configurations apart
    ties: Annotated[
        list[Literal["dev_loss", "dev_mean_steps", "parameters", "grid_order"]],
        *(SOME, ONCE),
        must_be("a list that ends with 'grid_order'", lambda ties: ties[-1] == "grid_order"),
    ]


class Retrain(Limits):
    seeds: Seeds


class Evaluate(Section):
    reference: str
    batch_size: values.Sequences


class Export(Section):
    name: ModelName


class Ablate(Section):
    model: str
    dev_steps: values.Steps
    test_steps: Annotated[list[values.Steps], SOME, ONCE]
    batch_size: values.Sequences


class Trace(Section):
    model: str
    seeds: values.Count
    per_label: values.Natural
    pair_ids: Annotated[list[Name], ONCE]


class Report(Section):
    published: bool
    examples: values.Count


class Params(Section):
    """The whole of params.yaml."""

    cluster: Cluster
    corpus: Corpus
    vocabulary: Vocabulary
    vectors: Vectors
    tensors: Tensors
    texts: Texts
    lexicalised: Lexicalised
    sweep: Sweep
    select_best: SelectBest
    retrain: Retrain
    evaluate: Evaluate
    export: Export
    ablate: Ablate
    trace: Trace
    fidelity: Fidelity
    sizes: Sizes
    halting: Halting
    graves: Graves
    multihop: Multihop
    questions: Questions
    nse: Nse
    report: Report
