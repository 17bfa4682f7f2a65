"""The sections of params.yaml as frozen, strictly typed objects; one class per section.

An int is accepted for a float; nothing else is converted. Rules that span several keys are in
`pipeline.parameters.rules`.
"""

# ruff: noqa: D101  (params.yaml documents each section and key)

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from actmodels import validators
from actmodels.registry import MODELS
from pipeline.parameters.labels import CLASS_NAME, RESERVED
from pipeline.parameters.section import (
    NON_EMPTY,
    PAIRS,
    SPLITS,
    UNIQUE,
    Axes,
    Fetched,
    Keys,
    Limits,
    MustBe,
    Name,
    Pairs,
    ParamsSection,
    Places,
    Seconds,
    Seeds,
    Settings,
    Sha256,
    StoragePath,
    Time,
    axes,
    each,
)

FACTS = (
    *("kind", "count", "age", "size", "color", "mood", "headgear"),
    *("action", "relation", "place", "time", "day", "weather"),
)


class Captions(ParamsSection):
    seed: validators.NonNegativeInt
    train: Pairs
    dev: Pairs
    test: Pairs
    unlabeled: validators.HalfOpenUnitInterval
    max_depth: Annotated[int, validators.Between(ge=1, le=6)]  # the deepest implemented
    facts: Annotated[Settings, each(FACTS, validators.NonNegativeFloat, required=True)]
    common: validators.UnitInterval
    usual: validators.UnitInterval
    repeated: validators.UnitInterval
    hyponym: validators.UnitInterval
    hypernym: validators.UnitInterval
    co_hyponym: validators.UnitInterval
    negated: validators.UnitInterval
    distractors: validators.UnitInterval


class Snli(Fetched):
    folder: Name
    labeled_pairs: Annotated[Settings, each(SPLITS, validators.Count, required=True)] | None


COLUMNS = ("premise", "hypothesis", "label", "id")
COLUMN_NAMES = dict.fromkeys(COLUMNS, Annotated[list[Name], NON_EMPTY, UNIQUE])
COLUMN_NAMES["id"] = Annotated[list[Name], UNIQUE]  # none: the line is the id
ClassName = Annotated[
    str,
    MustBe(
        f"at most 100 characters without ${{, or blanks at the ends, and not {RESERVED}", CLASS_NAME
    ),
]
Classes = Annotated[
    list[ClassName],
    Field(min_length=2, max_length=20),
    UNIQUE,
    MustBe(
        "a list of names that differ in more than upper and lower case",
        lambda names: len({name.lower() for name in names}) == len(names),
    ),
]
CELLS = (str, int, float, bool)
Cell = Annotated[
    Any,
    MustBe("text, a number, true or false", lambda value: isinstance(value, CELLS)),
]


def text_keys(labels: Any) -> Any:
    """Require text keys: DVC fails after the stage on numbers, null, booleans and dates."""
    for key in labels if isinstance(labels, dict) else ():
        if not isinstance(key, str):
            name = {None: "null", True: "true", False: "false"}.get(key, key)
            problem = f'the label {name} is no text; write the label in quotes: "{name}"'
            raise PydanticCustomError("unset", "{problem}", {"problem": problem})
    return labels


class PairFiles(ParamsSection):
    train: Places | None
    dev: Places | None
    test: Places | None
    sha256: Annotated[dict[str, Sha256 | None], each(SPLITS, Sha256 | None, required=True)]
    columns: Annotated[dict[str, list[str]], Keys(COLUMN_NAMES, required=COLUMNS)]
    where: Annotated[dict[str, dict[str, Cell]], each(SPLITS, dict[str, Cell], required=True)]
    labels: Annotated[dict[str, str], BeforeValidator(text_keys)]
    quotes: bool | None
    invalid: Literal["stop", "drop"]


class Corpus(ParamsSection):
    source: Literal["captions", "snli", "files"]
    classes: Classes
    parses: bool
    captions: Captions
    snli: Snli
    files: PairFiles

    @model_validator(mode="after")
    def has_files(self) -> Self:
        """Require the splits of source files, together with errors of other sections."""
        missing = [split for split in SPLITS if getattr(self.files, split) is None]
        if self.source == "files" and missing:
            values = " ".join(f"corpus.files.{split}=..." for split in missing)
            problem = f"source files needs paths or URLs: act-nli use {values}"
            raise PydanticCustomError("unset", "{problem}", {"problem": problem})
        return self


Feature = Literal[
    "bleu", "length", "overlap", "hypothesis_ngrams", "cross_unigrams", "cross_bigrams"
]
FusionSize = Annotated[
    Annotated[int, validators.Between(ge=1, le=1000)] | Literal["auto"],
    BeforeValidator(
        MustBe(
            "a whole number from 1 to 1,000, or auto",
            lambda size: size == "auto" or (type(size) is int and 1 <= size <= 1000),
        ).check
    ),
]
# what MLflow's model URIs can hold; there, `.` and `..` are paths
ModelName = Annotated[
    str,
    MustBe(
        "a name of at most 200 letters of a to z, digits, dots, dashes and underscores, the "
        "first of them a letter or a digit",
        r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}",
    ),
]


Notified = Annotated[
    str,
    MustBe(
        "a URL that starts with https:// or http://, or a command", r"https?://\S+|(?!\w+://)\S.*"
    ),
]


class Cluster(ParamsSection):
    cpus_per_trial: validators.Count
    # Ray's rule: a fraction of one device, or whole devices
    gpus_per_trial: Annotated[
        validators.NonNegativeFloat,
        MustBe("whole above 1", lambda n: n <= 1 or n % 1 == 0),
    ]
    trials_per_fusion: FusionSize
    matmul_precision: Literal["highest", "high", "medium"]
    gpu_graphs: bool = False
    max_concurrent: validators.Count | None = None
    max_failures: Annotated[int, validators.Between(ge=0, le=1000)]
    fail_fast: bool = False
    notify: Notified | None = None
    patience: Seconds
    dashboard: bool
    system_metrics: bool
    storage: StoragePath
    state: StoragePath


class Vocabulary(ParamsSection):
    size: validators.Count
    lowercase: bool


class RandomVectors(ParamsSection):
    seed: validators.NonNegativeInt
    std: validators.Positive


class Glove(Fetched):
    member: Name | None


class TextVectors(ParamsSection):
    window: Annotated[int, validators.Between(ge=1, le=100)]


class Vectors(ParamsSection):
    source: Literal["random", "text", "glove"]
    dimensions: validators.Size
    random: RandomVectors
    text: TextVectors
    glove: Glove


class Tensors(ParamsSection):
    max_tokens: validators.Count | None


class LexicalBaseline(ParamsSection):
    features: Annotated[list[Feature], NON_EMPTY, UNIQUE]
    min_count: validators.Count
    regularization: Annotated[list[validators.Positive], NON_EMPTY, UNIQUE]


def without_null(models: dict[str, Any]) -> dict[str, Any]:
    """Drop models set to null, with which a preset leaves a model out."""
    return {name: grid for name, grid in models.items() if grid is not None}


class ModelGrid(ParamsSection):
    """A model's trials: `settings` override those common to all models; `grid` has the axes.

    Each of the `points`, some settings together, is combined with every point of the grid.
    """

    settings: Annotated[Settings, Keys(PAIRS)]
    grid: Annotated[Axes, axes(PAIRS, or_range=True)] = Field(default_factory=dict)
    points: list[Annotated[Settings, Keys(PAIRS), NON_EMPTY]] = Field(default_factory=list)


class EarlyStopping(ParamsSection):
    rule: Literal["none", "successive_halving"]
    grace_period: validators.Epochs
    reduction_factor: validators.Several


# commas separate names in a tag of MLflow, and quotes end its filters
SweepName = Annotated[
    str, MustBe("a name of at most 60 letters, digits, blanks, ., _ and -", r"\w[\w. -]{0,59}")
]
# not those of the runs themselves
TAG = (
    r"(?!mlflow\.|(configuration|data_digest|device|epochs|failure|git_commit|grid_hash|group|kind|node"
    r"|peak_memory_mib|project|(python|ray|torch)_version|role|stage|stopped|sweeps|trial_key)$)"
    r"[\w./ -]{1,100}"
)
Tags = Annotated[
    dict[str, str],
    MustBe(
        "text by name, which has letters, digits, blanks, ., _, - or /, and is none of our tags",
        lambda tags: all(re.fullmatch(TAG, name) for name in tags),
    ),
]


class Sweep(Limits):
    name: SweepName | None = None
    notes: Annotated[str, Field(max_length=2000)] | None = None
    tags: Tags = Field(default_factory=dict)
    seeds: Seeds
    search: Literal["grid", "random", "optuna"]
    trials: validators.Count | None
    search_seed: validators.NonNegativeInt
    order: Literal["listed", "shuffled"] = "listed"
    time_limit: Time | None = None
    early_stopping: EarlyStopping
    settings: Annotated[Settings, Keys(PAIRS)]
    models: Annotated[
        dict[str, ModelGrid],
        *(each(MODELS, ModelGrid | None), AfterValidator(without_null), NON_EMPTY),
    ]
    only: Annotated[list[str], NON_EMPTY, UNIQUE] | None

    @model_validator(mode="after")
    def without_others(self) -> Self:
        """Drop the models that are not in `only`; an unknown name in it breaks a rule."""
        if self.only is None or set(self.only) - self.models.keys():
            return self
        models = {name: grid for name, grid in self.models.items() if name in self.only}
        return self.model_copy(update={"models": models})


class SelectBest(ParamsSection):
    # only the order of the grid resolves every tie
    ties: Annotated[
        list[Literal["dev_loss", "dev_mean_steps", "parameters", "grid_order"]],
        *(NON_EMPTY, UNIQUE),
        MustBe("a list that ends with 'grid_order'", lambda ties: ties[-1] == "grid_order"),
    ]


class Retrain(Limits):
    seeds: Seeds


class Evaluate(ParamsSection):
    reference: str | None


class Export(ParamsSection):
    name: ModelName


class Ablate(ParamsSection):
    model: str | None
    dev_steps: validators.Steps
    test_steps: Annotated[list[validators.Steps], NON_EMPTY, UNIQUE]


class Trace(ParamsSection):
    model: str | None
    seeds: validators.Count
    per_label: validators.Count


class Report(ParamsSection):
    examples: validators.Count
    compared: Name | None = None  # a folder, revision or experiment; see act-nli compare


class Params(ParamsSection):
    """params.yaml without the sections of studies, which pipeline.parameters.studies adds."""

    cluster: Cluster
    watch: Annotated[list[Literal["corpus", "vectors", "sweep"]], UNIQUE]
    corpus: Corpus
    vocabulary: Vocabulary
    vectors: Vectors
    tensors: Tensors
    lexical_baseline: LexicalBaseline
    sweep: Sweep
    select_best: SelectBest
    retrain: Retrain
    evaluate: Evaluate
    export: Export
    ablate: Ablate
    trace: Trace
    report: Report
    studies: list[str]
