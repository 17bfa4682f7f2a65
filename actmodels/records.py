"""Records of a trial's results: the only schema in which they are stored. No torch."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar

# Fields that depend on the machine; results without them are byte-equal.
TIMING_FIELDS = ("seconds", "examples_per_second")
STEP_MARGIN = 0.15  # ours: minimum share of steps saved by a better epoch of equal accuracy


@dataclass(frozen=True)
class EpochRecord:
    """Metrics of one epoch of a trial; epochs count from 1.

    Losses are mean cross-entropy in nats, without the ponder cost; accuracies are in [0, 1]. Steps
    are inference steps per example (N of Graves 2016), the ponder cost is the mean of N + R; both
    are None without halting. Train metrics are means over the epoch's batches, with dropout; dev
    metrics and ponder_weight are those at its end. seconds: training time; if fused, a share.
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
    replaces: bool = False  # the epochs before, whatever its accuracy
    lost_score: ClassVar[float] = 0.0  # a trial that diverged has this score

    @property
    def score(self) -> float:
        """What a search and early stopping maximize."""
        return self.dev_accuracy

    @property
    def text(self) -> str:
        """The score, for people."""
        return f"dev {100 * self.dev_accuracy:.1f} %"

    def logged(self) -> dict[str, Any]:
        """Return the metrics of the epoch by name."""
        return vars(self) | {"epoch": None}

    def headline(self) -> dict[str, Any]:
        """Return the metrics by which trials are sorted, at the best epoch."""
        return {"dev_accuracy": self.dev_accuracy, "dev_mean_steps": self.dev_mean_steps}

    @property
    def dev_error(self) -> float:
        """Share of the dev examples with an error; 0.325 where 1 - 0.675 is not."""
        return round(1 - self.dev_accuracy, 12)

    def result(self) -> dict[str, Any]:
        """Return all fields but the timings; `replaces` only if it is true."""
        left_out = TIMING_FIELDS if self.replaces else (*TIMING_FIELDS, "replaces")
        return {k: v for k, v in asdict(self).items() if k not in left_out}


@dataclass(frozen=True)
class ScoredEpoch:
    """Metrics of one epoch of a training of any kind; score: the metric to maximize, of name."""

    epoch: int
    score: float
    name: str
    metrics: Mapping[str, float]
    seconds: float | None = None
    lost_score: ClassVar[float] = -1e30

    @property
    def text(self) -> str:
        """The score, for people."""
        return f"{self.name} {self.metrics.get(self.name, math.nan):.4g}"

    def logged(self) -> dict[str, Any]:
        """Return the metrics of the epoch by name."""
        return {**self.metrics, "seconds": self.seconds}

    def headline(self) -> dict[str, Any]:
        """Return the metric by which trials are sorted, at the best epoch."""
        return {self.name: self.metrics.get(self.name)}

    def result(self) -> dict[str, Any]:
        """Return all fields but the timing."""
        return {k: v for k, v in asdict(self).items() if k not in TIMING_FIELDS}


Epoch: TypeAlias = Any  # an EpochRecord or a ScoredEpoch
AnyEpoch = TypeVar("AnyEpoch", bound=EpochRecord | ScoredEpoch)


def epoch_from_dict(stored: Mapping[str, Any]) -> Epoch:
    """Return an epoch from its fields."""
    return (ScoredEpoch if "score" in stored else EpochRecord)(**stored)


def trial_name(key: str, model: str) -> str:
    """Return the name of a trial in MLflow, workers' logs, messages and the report.

    The key is first, as lists cut long names.
    """
    return f"{key[:8]}-{model}"


def best_epoch(history: Sequence[AnyEpoch]) -> AnyEpoch:
    """Return the best epoch on dev.

    A later epoch is better with a higher accuracy, or with equal accuracy and STEP_MARGIN fewer
    steps. The margin prevents the ponder cost from removing a last step that deeper examples need.
    Among epochs without an error a lower loss in no more steps is better as well: accuracy cannot
    rank them, and on multi-hop pairs the early ones halt late beyond the trained depths.
    """
    epochs: Sequence[Any] = history
    best, *later = epochs
    if isinstance(best, ScoredEpoch):
        return max(epochs, key=lambda epoch: epoch.score)  # the first of equal ones
    for epoch in later:
        steps, best_steps = epoch.dev_mean_steps or 0.0, best.dev_mean_steps or 0.0
        fewer_steps = steps < (1 - STEP_MARGIN) * best_steps
        surer = best.dev_error == 0 and epoch.dev_loss < best.dev_loss and steps <= best_steps
        equal = epoch.dev_accuracy == best.dev_accuracy
        better = epoch.dev_accuracy > best.dev_accuracy or (equal and (fewer_steps or surer))
        if better or epoch.replaces:
            best = epoch
    return best


def is_over(history: Sequence[Epoch], max_epochs: int, patience: int) -> bool:
    """Return whether max_epochs or the patience is exhausted."""
    epochs = len(history)
    better = best_epoch(history).epoch if patience > 0 < epochs else epochs
    return epochs >= max_epochs or epochs - better >= patience > 0


@dataclass(frozen=True)
class TrialRecord:
    """A finished trial."""

    key: str  # see `tune.trials.provenance.trial_key`
    config: dict[str, Any]  # configuration as nested dictionaries
    parameters: int  # number of trained non-embedding parameters
    history: tuple[EpochRecord, ...]
    provenance: dict[str, str]  # digests and versions that are part of the key
    diverged: bool = False  # a loss was not finite; training ended with the epoch before
    weights: str | None = None  # SHA-256 of the file of the best parameters
    machine: dict[str, Any] | None = None  # node, device and peak memory; not part of the result

    @property
    def best(self) -> EpochRecord:
        return best_epoch(self.history)

    @property
    def score(self) -> float:
        """The best score; that of a lost trial if it diverged."""
        return self.best.lost_score if self.diverged else self.best.score

    @property
    def stopped(self) -> bool:
        """Whether early stopping ended the trial."""
        limits = [self.config[name] for name in ("max_epochs", "patience")]
        early = "early_stopping" in self.provenance and not self.diverged
        return early and not is_over(self.history, *limits)

    @property
    def end(self) -> str:
        """Why the trial ended before its last epoch; empty for its limits."""
        epochs = len(self.history)
        if self.diverged:
            return f"diverged in epoch {epochs}: a loss was not finite"
        return f"stopped early after epoch {epochs}" if self.stopped else ""

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    def result_json(self) -> str:
        """Return the reproducible fields as one line of JSON; equal runs give equal bytes."""
        stored = asdict(self) | {"history": [epoch.result() for epoch in self.history]}
        del stored["machine"]
        return json.dumps(stored, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "TrialRecord":
        """Read the output of `to_json` or `result_json`."""
        stored = json.loads(text)
        stored["history"] = tuple(map(epoch_from_dict, stored["history"]))
        return cls(**stored)
