"""Rows of the studies: figures of each run, and means with sample sds over seeds.

`difference`, `low` and `high` are of test accuracies, against the first of their kind.
"""

from dataclasses import dataclass

from actmodels.rows.columns import Name, Share


@dataclass(frozen=True)
class Variant:
    """artefacts/fidelity/variants.csv: one variant of a model."""

    model: Name
    variant: Name
    changes: str
    seeds: int
    dev_accuracy_mean: Share
    dev_accuracy_sd: float | None
    test_accuracy_mean: Share
    test_accuracy_sd: float | None
    test_mean_steps: float | None
    difference: float
    low: float
    high: float
    largest_p: Share
    pairs: int


@dataclass(frozen=True)
class VariantTime:
    """artefacts/fidelity/timings.csv."""

    model: Name
    variant: Name
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
class HaltingTime:
    """artefacts/halting/timings.csv."""

    kind: Name
    point: Name
    seed: int
    epochs: int
    seconds: float
