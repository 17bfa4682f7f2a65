"""The sections of params.yaml as frozen, strictly typed objects; one class per section.

A whole number is accepted where a number is expected, nothing else is converted. Rules that
span several keys are in `pipeline.parameters.rules`.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline.parameters.generated_sections import Captions
from pipeline.parameters.section import (
    Amount,
    Count,
    Epochs,
    Feature,
    Fetched,
    Name,
    Natural,
    Place,
    Positive,
    Retries,
    Seconds,
    Section,
    Seeds,
    Sequences,
    Several,
    Size,
    Split,
    Steps,
    Switch,
    Tie,
    must_be,
)
from pipeline.parameters.study_sections import (
    Fidelity,
    Graves,
    Halting,
    Multihop,
    Nse,
    Questions,
    Sizes,
)


class Cluster(Section):
    """How trials are run."""

    cpus_per_trial: Count
    gpus_per_trial: Amount
    trials_per_pack: Annotated[
        Annotated[int, Field(ge=1, le=1000)] | Literal["auto"],
        must_be("a whole number of at least 1 and at most 1,000, or auto"),
    ]
    matmul_precision: Literal["highest", "high", "medium"]
    max_failures: Retries
    wait_for_nodes: Seconds
    wait_for_answer: Seconds
    wait_for_storage: Seconds
    dashboard: Switch
    system_metrics: Switch
    storage: Place
    state: Place


class LabelledPairs(Section):
    """Labelled pairs that each split must have."""

    train: Count
    dev: Count
    test: Count


class Snli(Fetched):
    """Where the SNLI archive comes from and how it is recognised."""

    folder: Name
    labelled_pairs: LabelledPairs | None


class Corpus(Section):
    """Which sentence pairs."""

    source: Literal["captions", "snli"]
    parses: Switch
    captions: Captions
    snli: Snli


class Vocabulary(Section):
    """Which words keep their own identity."""

    size: Count
    count_splits: Annotated[list[Split], Field(min_length=1)]
    lowercase: Switch


class RandomVectors(Section):
    """Vectors drawn from a normal distribution."""

    seed: Natural
    std: Positive


class Glove(Fetched):
    """Where the archive of pre-trained vectors comes from."""

    member: Name


class Vectors(Section):
    """Which word vectors."""

    source: Literal["random", "glove"]
    dimensions: Size
    random: RandomVectors
    glove: Glove


class Tensors(Section):
    """How pairs become tensors."""

    max_tokens: Count | None


class TextSource(Fetched):
    """Where a text comes from: an archive whose members are joined, or without any the text."""

    members: list[Name]


class Texts(Section):
    """Plain texts by name, for the studies that read one."""

    sources: dict[str, TextSource]


class Lexicalised(Section):
    """The feature-based classifier of Bowman et al. 2015."""

    features: Annotated[list[Feature], Field(min_length=1)]
    min_count: Count
    regularisation: Annotated[list[Positive], Field(min_length=1)]


class ModelGrid(Section):
    """A model's trials: `settings` hold for all of them, `grid` lists the values of each axis.

    Its settings go before those common to all models.
    """

    settings: dict[str, Any]
    grid: dict[str, list[Any]]


class EarlyStopping(Section):
    """Which trials of the sweep end before their last epoch."""

    rule: Literal["none", "successive_halving"]
    first_epochs: Epochs
    keep_one_in: Several


class Sweep(Section):
    """The grid search."""

    seeds: Seeds
    max_epochs: Epochs
    patience: Natural
    early_stopping: EarlyStopping
    settings: dict[str, Any]
    models: Annotated[dict[str, ModelGrid], Field(min_length=1)]


class SelectBest(Section):
    """How equal dev accuracies are told apart, first criterion first."""

    ties: Annotated[list[Tie], Field(min_length=1)]


class Retrain(Section):
    """Training of the best configurations."""

    seeds: Seeds
    max_epochs: Epochs
    patience: Natural


class Evaluate(Section):
    """Reading of the test split; `reference` is the model that the others are compared with."""

    reference: str
    batch_size: Sequences


class Export(Section):
    """The retrained models, to be asked."""

    name: Annotated[
        str,
        # what MLflow's addresses of models can hold; `.` and `..` are places in them
        Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$"),
        must_be(
            "a name of at most 200 letters of a to z, digits, dots, dashes and underscores, the "
            "first of them a letter or a digit"
        ),
    ]


class Ablate(Section):
    """Accuracy by number of inference steps."""

    model: str
    dev_steps: Steps
    test_steps: Annotated[list[Steps], Field(min_length=1)]
    batch_size: Sequences


class Trace(Section):
    """Which pairs are followed through the steps of a model."""

    model: str
    seeds: Count
    per_label: Natural
    pair_ids: list[Name]


class Report(Section):
    """What the report shows."""

    published: Switch
    examples: Count


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
