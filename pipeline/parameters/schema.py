"""The sections of params.yaml as frozen, strictly typed objects; one class per section.

params.yaml itself says what each key means. A whole number is accepted where a number is expected,
nothing else is converted. Rules that span several keys are in `pipeline.parameters.rules`.
"""

import re
from typing import Annotated, Any, Literal

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
Tie = Literal["dev_loss", "dev_mean_steps", "parameters", "grid_order"]
FACTS = (
    *("kind", "count", "age", "size", "colour", "mood", "headgear"),
    *("action", "relation", "place", "time", "day", "weather"),
)
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")  # a file is called by it
# what MLflow's addresses of models can hold; `.` and `..` are places in them
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")


class Cluster(Section):
    """How trials are run."""

    cpus_per_trial: values.Count
    # Ray's own rule: a share of one device or whole devices
    gpus_per_trial: Annotated[
        values.Amount, must_be("whole above 1", lambda n: n <= 1 or n % 1 == 0)
    ]
    trials_per_pack: Annotated[
        Any,
        must_be(
            "a whole number from 1 to 1,000, or auto",
            lambda value: value == "auto" or (type(value) is int and 1 <= value <= 1000),
        ),
    ]
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
    """Size, seed and difficulty of the embedded corpus."""

    seed: values.Natural
    train: Pairs
    dev: Pairs
    test: Pairs
    unlabelled: values.Share
    max_depth: Annotated[int, values.Range(ge=1, le=6)]  # the deepest there is
    facts: Annotated[Settings, Keys(dict.fromkeys(FACTS, values.Amount), required=FACTS)]
    common: values.Portion
    usual: values.Portion
    repeated: values.Portion
    narrower: values.Portion
    broader: values.Portion
    siblings: values.Portion
    negated: values.Portion
    lures: values.Portion


class Snli(Fetched):
    """Where the SNLI archive comes from, and how many labelled pairs each split must have."""

    folder: Name
    labelled_pairs: (
        Annotated[Settings, Keys(dict.fromkeys(SPLITS, values.Count), required=SPLITS)] | None
    )


class Corpus(Section):
    """Which sentence pairs."""

    source: Literal["captions", "snli"]
    parses: bool
    captions: Captions
    snli: Snli


class Vocabulary(Section):
    """Which words keep their own identity."""

    size: values.Count
    count_splits: Annotated[list[Split], SOME, ONCE]
    lowercase: bool


class RandomVectors(Section):
    """Vectors drawn from a normal distribution."""

    seed: values.Natural
    std: values.Positive


class Glove(Fetched):
    """Where the archive of pre-trained vectors comes from."""

    member: Name


class Vectors(Section):
    """Which word vectors."""

    source: Literal["random", "glove"]
    dimensions: values.Size
    random: RandomVectors
    glove: Glove


class Tensors(Section):
    """How pairs become tensors."""

    max_tokens: values.Count | None


class TextSource(Fetched):
    """Where a text comes from: an archive whose members are joined, or without any the text."""

    members: Annotated[list[Name], ONCE]


class Texts(Section):
    """Plain texts by name, for the studies that read one."""

    sources: dict[
        Annotated[str, must_be("a name of letters, digits, _ and -", FILE_NAME.fullmatch)],
        TextSource,
    ]


class Lexicalised(Section):
    """The feature-based classifier of Bowman et al. 2015."""

    features: Annotated[list[Feature], SOME, ONCE]
    min_count: values.Count
    regularisation: Annotated[list[values.Positive], SOME, ONCE]


class ModelGrid(Section):
    """A model's trials: `settings` hold for all of them, `grid` lists the values of each axis.

    Its settings go before those common to all models.
    """

    settings: Annotated[Settings, Keys(PAIRS)]
    grid: Annotated[Axes, axes(PAIRS)]


class EarlyStopping(Section):
    """Which trials of the sweep end before their last epoch."""

    rule: Literal["none", "successive_halving"]
    first_epochs: values.Epochs
    keep_one_in: values.Several


class Sweep(Limits):
    """The grid search."""

    seeds: Seeds
    early_stopping: EarlyStopping
    settings: Annotated[Settings, Keys(PAIRS)]
    models: Annotated[dict[str, ModelGrid], each(MODELS, ModelGrid), SOME]


class SelectBest(Section):
    """How equal dev accuracies are told apart, first criterion first."""

    ties: Annotated[
        list[Tie],
        SOME,
        ONCE,
        # only the order of the grid tells any two configurations apart
        must_be("a list that ends with 'grid_order'", lambda ties: ties[-1] == "grid_order"),
    ]


class Retrain(Limits):
    """Training of the best configurations."""

    seeds: Seeds


class Evaluate(Section):
    """Reading of the test split; `reference` is the model that the others are compared with."""

    reference: str
    batch_size: values.Sequences


class Export(Section):
    """The retrained models, to be asked."""

    name: Annotated[
        str,
        must_be(
            "a name of at most 200 letters of a to z, digits, dots, dashes and underscores, the "
            "first of them a letter or a digit",
            MODEL_NAME.fullmatch,
        ),
    ]


class Ablate(Section):
    """Accuracy by number of inference steps."""

    model: str
    dev_steps: values.Steps
    test_steps: Annotated[list[values.Steps], SOME, ONCE]
    batch_size: values.Sequences


class Trace(Section):
    """Which pairs are followed through the steps of a model."""

    model: str
    seeds: values.Count
    per_label: values.Natural
    pair_ids: Annotated[list[Name], ONCE]


class Report(Section):
    """What the report shows."""

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
