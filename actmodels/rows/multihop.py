"""Rows of the stage `multihop`; steps are None for a model without steps."""

from dataclasses import dataclass

from actmodels.rows.columns import Correlation, Name, Share


@dataclass(frozen=True)
class MultihopRun:
    """One run with one seed; `run` tells the settings of a model apart."""

    model: Name
    run: Name
    seed: int


@dataclass(frozen=True)
class MultihopResult(MultihopRun):
    """artefacts/multihop/results.csv: dev figures of the best epoch, test read once.

    correlation: Pearson's r of steps and hops over the test pairs of the trained depths and the
    next one.
    """

    key: Name
    parameters: int
    epochs: int
    best_epoch: int
    diverged: bool
    dev_accuracy: Share
    dev_mean_steps: float | None
    correlation: Correlation


@dataclass(frozen=True)
class AtHops(MultihopRun):
    """artefacts/multihop/hops.csv: the test pairs of one depth. trained: its pairs are drawn."""

    hops: int
    trained: bool
    pairs: int
    accuracy: Share
    mean_steps: float | None


@dataclass(frozen=True)
class MultihopEpoch(MultihopRun):
    """artefacts/multihop/history.csv."""

    epoch: int
    train_loss: float | None
    dev_accuracy: Share
    dev_mean_steps: float | None


@dataclass(frozen=True)
class MultihopTime(MultihopRun):
    """artefacts/multihop/timings.csv."""

    epochs: int
    seconds: float
