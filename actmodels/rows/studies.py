"""Rows of the studies of sentence pairs: means with sample sds over seeds, and times."""

from dataclasses import dataclass

from actmodels.rows.columns import Name, OverSeeds, Share


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
