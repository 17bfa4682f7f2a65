"""Asynchronous successive halving (ASHA, Li et al. 2018) of configurations. Does not import Ray.

At each rung, after grace_period * reduction_factor^k epochs, a configuration is compared with all
of its model that reached the rung before, by the mean over its seeds of the best score so far, for
pairs the dev accuracy. All its seeds go on, or end at this rung. Which ones are stopped depends on
the order of arrival, so two runs of one sweep may differ. A trial that is not stopped has the same
results as without early stopping, and the best configuration is never stopped.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, takewhile
from statistics import fmean
from typing import Any

from actmodels.records import EpochRecord, TrialRecord, best_epoch
from tune.trials.stops import ended_by
from tune.trials.storage import Storage


@dataclass(frozen=True)
class SuccessiveHalving:
    """The settings; they are part of the trials' keys."""

    grace_period: int
    reduction_factor: int

    def __str__(self) -> str:
        return f"successive_halving after {self.grace_period}, one in {self.reduction_factor}"

    def rungs(self, epochs: int) -> list[int]:
        """Return the rungs that a trial has reached after a number of epochs."""
        rungs = (self.grace_period * self.reduction_factor**power for power in count())
        return list(takewhile(lambda rung: rung <= epochs, rungs))

    def is_promoted(self, score: float, scores: Sequence[float]) -> bool:
        """Return whether a score is in the top 1 / reduction_factor, rounded up; ties are."""
        promoted = -(-len(scores) // self.reduction_factor)
        return sum(other > score for other in scores) < promoted


@dataclass(frozen=True)
class RungScores:
    """The scores of trials at the rungs: a small file per trial and rung, shared by all workers.

    configurations: of each model, the keys of their seeds. notes: on quarantined files, for the
    user.
    """

    storage: Storage
    rule: SuccessiveHalving
    configurations: Mapping[str, Sequence[Sequence[str]]]
    max_epochs: int
    notes: list[str] = field(default_factory=list)

    def seeds(self, model: str, key: str) -> Sequence[str]:
        """Return the keys of all seeds of a trial's configuration."""
        return next(keys for keys in self.configurations[model] if key in keys)

    def record(
        self,
        key: str,
        history: Sequence[EpochRecord],
        *,
        finished: bool = False,
        diverged: bool = False,
    ) -> None:
        """Write a trial's score at each rung it has reached; existing scores do not change.

        finished: not stopped; its last score is that of all later rungs, 0 if it diverged.
        """
        for rung in self.rule.rungs(self.max_epochs if finished else len(history)):
            if self._read(rung, key) is None:
                lost = diverged and rung >= len(history)
                score = history[0].lost_score if lost else best_epoch(history[:rung]).score
                self._write(rung, key, {"score": score})

    def record_result(self, record: TrialRecord) -> None:
        """Write the scores and the decisions of a finished trial, for its unfinished seeds."""
        cut = record.stopped and not ended_by(record)
        self.record(record.key, record.history, finished=not cut, diverged=record.diverged)
        epochs = len(record.history)
        for rung in self.rule.rungs(epochs if cut else epochs - 1):
            entry = self._read(rung, record.key)
            if entry and "cut" not in entry:
                self._write(rung, record.key, entry | {"cut": rung == epochs})

    def last_epoch(self, model: str, keys: Sequence[str]) -> int | None:
        """Return the rung at which a configuration is stopped; None if it is not.

        keys: of all its seeds. It is judged when all have reached the rung, and only once.
        """
        for rung in self.rule.rungs(self.max_epochs - 1):
            entries = {key: entry for key in keys if (entry := self._read(rung, key))}
            decided = [entry["cut"] for entry in entries.values() if "cut" in entry]
            if not decided and len(entries) == len(keys):
                score = fmean(entry["score"] for entry in entries.values())
                means = (self._mean(rung, seeds) for seeds in self.configurations[model])
                known = [mean for mean in means if mean is not None]
                decided = [not self.rule.is_promoted(score, known)]
                for key, entry in entries.items():
                    self._write(rung, key, entry | {"cut": decided[0]})
            if decided and decided[0]:
                return rung
        return None

    def delete(self, keys: Iterable[str]) -> None:
        """Delete the files of trials."""
        for key in keys:
            for rung in self.rule.rungs(self.max_epochs):
                self.storage.remove(_name(rung, key))

    def _mean(self, rung: int, keys: Sequence[str]) -> float | None:
        """Return the score of a configuration; None before all its seeds have one."""
        entries = [entry for key in keys if (entry := self._read(rung, key))]
        complete = len(entries) == len(keys)
        return fmean(entry["score"] for entry in entries) if complete else None

    def _read(self, rung: int, key: str) -> dict[str, Any] | None:
        """Return an entry; None if it is missing, or corrupt and now quarantined."""
        name = _name(rung, key)
        corrupt = self.storage.quarantining(name, self.notes, "this score is not compared")
        with suppress(FileNotFoundError), corrupt:  # missing also if another worker quarantined it
            entry: dict[str, Any] = self.storage.read_json(name, _is_entry)
            return entry
        return None

    def _write(self, rung: int, key: str, entry: Mapping[str, Any]) -> None:
        self.storage.write_named(_name(rung, key), json.dumps(entry).encode())


def _is_entry(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("score"), float | int)
        and isinstance(value.get("cut", False), bool)
    )


def _name(rung: int, key: str) -> str:
    return f"rungs/{rung}/{key}.json"
