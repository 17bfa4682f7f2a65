"""Rows of the stage `nse`: readers of cloze questions."""

from dataclasses import dataclass

from actmodels.rows.columns import Name, OverSeeds, Share


@dataclass(frozen=True)
class ReaderResult:
    """artefacts/nse/results.csv: a run at its best epoch on dev, and on test."""

    questions: Name
    run: Name
    strategy: Name
    steps: int
    seed: int
    key: Name
    parameters: int
    epochs: int
    best_epoch: int
    diverged: bool
    dev_accuracy: Share
    dev_loss: float | None
    dev_mean_steps: float | None
    dev_sd_steps: float | None
    test_accuracy: Share
    test_questions: int
    test_mean_steps: float | None


@dataclass(frozen=True)
class ReaderName:
    """What the readers of a run are."""

    questions: Name
    run: Name
    strategy: Name
    steps: int


@dataclass(frozen=True)
class ReaderMeans(OverSeeds, ReaderName):
    """artefacts/nse/runs.csv: a run, compared with the first one of its questions."""


@dataclass(frozen=True)
class Baseline:
    """artefacts/nse/baselines.csv: what no reading is needed for, on one split."""

    questions: Name
    source: Name
    split: Name
    count: int
    candidates: float
    random: Share
    most_frequent: Share


@dataclass(frozen=True)
class ReaderRun:
    """One run with one seed."""

    questions: Name
    run: Name
    seed: int


@dataclass(frozen=True)
class ReaderEpoch(ReaderRun):
    """artefacts/nse/history.csv."""

    epoch: int
    train_loss: float | None
    train_accuracy: Share
    dev_loss: float | None
    dev_accuracy: Share
    dev_mean_steps: float | None


@dataclass(frozen=True)
class ReaderStep(ReaderRun):
    """artefacts/nse/steps.csv: what a step counts in the answers to dev, and its own accuracy."""

    step: int
    weight: Share
    accuracy: Share


@dataclass(frozen=True)
class ReaderTime(ReaderRun):
    """artefacts/nse/timings.csv."""

    epochs: int
    seconds: float
