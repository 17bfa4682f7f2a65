"""Rows on pairs of sentences: trials, what the trained models do on dev and test, and the studies.

Accuracies are shares of the pairs; steps are those of a model that takes any.
"""

from dataclasses import dataclass

from actmodels.rows.columns import Correlation, Difference, Name, OverSeeds, Share

# What more steps than one did to an answer, and how it is counted: names in artefacts/trace/.
OUTCOMES = (
    "corrected",
    "spoiled",
    "right_throughout",
    "wrong_throughout",
    "changed_in_between",
)
COUNTS = ("pairs", "right_after_step_1", "right", *OUTCOMES)


@dataclass(frozen=True)
class RunName:
    """A trained model."""

    model: Name
    seed: int


@dataclass(frozen=True)
class TrialName:
    """A trial of the stages `sweep` and `retrain`."""

    key: Name
    model: Name
    seed: int


@dataclass(frozen=True)
class TrialSize:
    """What trials.csv says of a trial beside its settings and its best epoch."""

    parameters: int
    epochs: int
    diverged: bool
    best_epoch: int


@dataclass(frozen=True)
class EpochTime(TrialName):
    """artefacts/{sweep,retrain}/timings.csv."""

    epoch: int
    seconds: float
    examples_per_second: float


@dataclass(frozen=True)
class Result(RunName):
    """artefacts/evaluate/results.csv."""

    key: Name
    parameters: int
    epochs: int
    best_epoch: int
    dev_accuracy: Share
    test_accuracy: Share
    test_pairs: int
    test_mean_steps: float | None
    test_sd_steps: float | None


@dataclass(frozen=True)
class OfDepth:
    """The pairs of one recorded reasoning depth."""

    depth: int
    pairs: int
    accuracy: Share
    mean_steps: float | None


@dataclass(frozen=True)
class AtDepth(OfDepth, RunName):
    """artefacts/evaluate/depth.csv."""


@dataclass(frozen=True)
class Prediction(RunName):
    """artefacts/evaluate/predictions.csv: one test pair."""

    pair_id: Name
    label: Name
    predicted: Name
    steps: float | None


@dataclass(frozen=True)
class PairedName:
    """A model beside another one."""

    model: Name
    reference: Name
    seeds: int


@dataclass(frozen=True)
class Paired(Difference, PairedName):
    """artefacts/evaluate/paired.csv: a model minus the reference."""


@dataclass(frozen=True)
class Lengths(RunName):
    """artefacts/evaluate/lengths.csv: pairs of one mean sentence length and number of steps."""

    mean_length: float
    steps: int
    pairs: int


@dataclass(frozen=True)
class Correlations(RunName):
    """artefacts/evaluate/correlations.csv: of steps with `steps_against`."""

    steps_against: Name
    pairs: int
    pearson: Correlation
    spearman: Correlation


@dataclass(frozen=True)
class Ablation(RunName):
    """artefacts/ablate/{dev,test}.csv: accuracy where steps are fixed, or adaptive."""

    reading: Name
    steps: float | None
    accuracy: Share
    mean_steps: float | None


@dataclass(frozen=True)
class FixedSteps:
    """A reading of a number of steps."""

    reading: Name
    steps: int
    seeds: int


@dataclass(frozen=True)
class AdaptiveGain(Difference, FixedSteps):
    """artefacts/ablate/gains.csv: the adaptive model minus itself at fixed steps."""


@dataclass(frozen=True)
class Lexicalised(RunName):
    """artefacts/lexicalised/results.csv: the classifier on features of words."""

    parameters: int
    regularisation: float
    dev_accuracy: Share
    test_accuracy: Share
    test_pairs: int


@dataclass(frozen=True)
class VariantName:
    """What a variant of a model is."""

    model: Name
    variant: Name
    changes: str


@dataclass(frozen=True)
class Variant(OverSeeds, VariantName):
    """artefacts/fidelity/variants.csv: one variant of a model."""


@dataclass(frozen=True)
class VariantTime:
    """artefacts/fidelity/timings.csv."""

    model: Name
    variant: Name
    seed: int
    epochs: int
    seconds: float


@dataclass(frozen=True)
class SizeName:
    """A model trained on so many pairs."""

    model: Name
    pairs: int


@dataclass(frozen=True)
class AtSize(SizeName):
    """artefacts/sizes/points.csv.

    cut_off: share of runs that ended before dev accuracy had stopped improving.
    fitted: the size is one of those that the law is fitted to.
    """

    seeds: int
    epochs: float
    cut_off: Share
    dev_accuracy_mean: Share
    dev_accuracy_sd: float | None
    test_accuracy_mean: Share
    test_accuracy_sd: float | None
    fitted: bool


@dataclass(frozen=True)
class Law:
    """artefacts/sizes/laws.csv: error = floor + scale · pairs^-exponent, of so many sizes.

    pairs: where accuracy is foretold, with its 95 % interval. bounded: the exponent is at an end
    of what is tried. wide: the interval is wider than `sizes.widest` of params.yaml.
    """

    model: Name
    without_largest: bool
    sizes: int
    floor: float
    scale: float
    exponent: float
    pairs: int
    accuracy: float
    low: float
    high: float
    bounded: bool
    wide: bool


@dataclass(frozen=True)
class LawPoint(SizeName):
    """artefacts/sizes/curves.csv: the law of all sizes, to be drawn."""

    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class SizeTime(SizeName):
    """artefacts/sizes/timings.csv."""

    seed: int
    epochs: int
    seconds: float


@dataclass(frozen=True)
class HaltingPoint:
    """artefacts/halting/points.csv: one setting of one way of halting."""

    kind: Name
    point: Name
    seeds: int
    dev_accuracy_mean: Share
    dev_accuracy_sd: float | None
    mean_steps_mean: float
    mean_steps_sd: float | None
    collapsed: Share
    ponder_weight_end_mean: float | None


@dataclass(frozen=True)
class HaltingRun:
    """Which training a row is of."""

    kind: Name
    point: Name
    seed: int


@dataclass(frozen=True)
class HaltingAtDepth(OfDepth, HaltingRun):
    """artefacts/halting/depth.csv: on dev."""


@dataclass(frozen=True)
class HaltingTime(HaltingRun):
    """artefacts/halting/timings.csv."""

    epochs: int
    seconds: float
