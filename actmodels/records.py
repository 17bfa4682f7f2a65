"""What a trial yields: the only schema of what is stored about it. No torch import."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

# Fields that measure the machine and not the model: kept apart, so that results stay byte-equal.
TIMING_FIELDS = ("seconds", "examples_per_second")
STEP_MARGIN = 0.15  # ours: share of steps that an epoch saves to be better at equal accuracy


@dataclass(frozen=True)
class EpochRecord:
    """One epoch of one trial; epochs count from 1.

    Losses are mean cross-entropy in nats, without the ponder term; accuracies are in [0, 1].
    Steps are inference steps per example (N of Graves 2016); ponder cost is the mean of N + R; None
    without halting. Train figures are running ones, with dropout; dev figures and ponder_weight are
    those at the end of the epoch. seconds: of training; when fused, the trial's share.
    """

    epoch: int
    train_loss: float
    train_accuracy: float
    train_mean_steps: float | None
    train_sd_steps: float | None
    train_ponder_cost: float | None
    dev_loss: float
    dev_accuracy: float
    dev_mean_steps: float | None
    dev_sd_steps: float | None
    dev_ponder_cost: float | None
    ponder_weight: float | None = None
    seconds: float | None = None
    examples_per_second: float | None = None

    @property
    def dev_error(self) -> float:
        """Share of the dev examples with any mistake; 0.325 where 1 - 0.675 is not."""
        return round(1 - self.dev_accuracy, 12)

    def result(self) -> dict[str, Any]:
        """Everything but the timings."""
        return {k: v for k, v in asdict(self).items() if k not in TIMING_FIELDS}


def best_epoch(history: Sequence[EpochRecord]) -> EpochRecord:
    """Return the best epoch on dev.

    A later epoch is better with a higher accuracy, or an equal one and STEP_MARGIN fewer steps.
    The margin stops a ponder cost that would take the last step that deeper examples need.
    """
    best, *later = history
    for epoch in later:
        same, few = epoch.dev_accuracy == best.dev_accuracy, 1 - STEP_MARGIN
        fewer = same and (epoch.dev_mean_steps or 0.0) < few * (best.dev_mean_steps or 0.0)
        if epoch.dev_accuracy > best.dev_accuracy or fewer:
            best = epoch
    return best


@dataclass(frozen=True)
class TrialRecord:
    """One finished trial.

    key: its identity (configuration, data, code, environment). config: as nested dictionaries.
    parameters: trained, non-embedding. provenance: digests and versions that went into the key.
    diverged: a loss was not finite; training ended on the last good epoch. weights: SHA-256 of the
    file of its best parameters. machine: node, device and peak memory; no result.
    """

    key: str
    config: dict[str, Any]
    parameters: int
    history: tuple[EpochRecord, ...]
    provenance: dict[str, str]
    diverged: bool = False
    weights: str | None = None
    machine: dict[str, Any] | None = None

    @property
    def best(self) -> EpochRecord:
        return best_epoch(self.history)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    def result_json(self) -> str:
        """One line of what repeats, for result files: equal runs give equal bytes."""
        stored = asdict(self) | {"history": [epoch.result() for epoch in self.history]}
        del stored["machine"]
        return json.dumps(stored, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "TrialRecord":
        """The inverse of `to_json` and `result_json`."""
        stored = json.loads(text)
        stored["history"] = tuple(EpochRecord(**epoch) for epoch in stored["history"])
        return cls(**stored)
