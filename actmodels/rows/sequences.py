"""Rows of the stage `graves`: what is None with steps are runs that do not halt."""

from dataclasses import dataclass

from actmodels.rows.columns import Name, Share


@dataclass(frozen=True)
class SequenceResult:
    """artefacts/graves/results.csv: a run at its best epoch."""

    task: Name
    run: Name
    halting: Name
    ponder_weight: float | None
    seed: int
    key: Name
    parameters: int
    epochs: int
    best_epoch: int
    diverged: bool
    dev_error: Share
    dev_loss: float | None
    dev_mean_steps: float | None
    dev_sd_steps: float | None
    dev_ponder_cost: float | None


@dataclass(frozen=True)
class SequenceRun:
    """One run with one seed."""

    task: Name
    run: Name
    seed: int


@dataclass(frozen=True)
class AtDifficulty(SequenceRun):
    """artefacts/graves/difficulty.csv; error is None where nothing is asked of them."""

    difficulty: int
    instances: int
    asked: int
    error: float | None
    mean_steps: float | None
    ponder_cost: float | None


@dataclass(frozen=True)
class SequenceEpoch(SequenceRun):
    """artefacts/graves/history.csv."""

    epoch: int
    train_loss: float | None
    dev_loss: float | None
    dev_error: Share
    dev_mean_steps: float | None


@dataclass(frozen=True)
class SequenceTime(SequenceRun):
    """artefacts/graves/timings.csv."""

    epochs: int
    seconds: float


@dataclass(frozen=True)
class ByteRead(SequenceRun):
    """artefacts/graves/reading.csv: a byte of the passage."""

    position: int
    byte: int
    steps: float | None
    ponder: float | None
    loss: float
    entropy: float


@dataclass(frozen=True)
class BytesOfKind(SequenceRun):
    """artefacts/graves/bytes.csv: means over the bytes of one kind."""

    kind: Name
    bytes: int
    steps: float | None
    ponder: float | None
    loss: float
    entropy: float
