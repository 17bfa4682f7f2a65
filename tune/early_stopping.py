"""Asynchronous successive halving (ASHA, Li et al. 2018) of single trials. Does not import Ray.

At each rung, after grace_period * reduction_factor^k epochs, a trial's best dev accuracy is
compared with those of all trials of its model that reached the rung before. Which trials are
stopped depends on the order of arrival, so two runs of one sweep may differ. A trial that is not
stopped has the same results as without early stopping, and the best trial is never stopped.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Any

from actmodels.records import EpochRecord, best_epoch
from tune.storage import Storage


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

    keys: of the trials that are compared, by model. notes: on quarantined files, for the user.
    """

    storage: Storage
    rule: SuccessiveHalving
    keys: Mapping[str, Sequence[str]]
    max_epochs: int
    notes: list[str] = field(default_factory=list)

    def record(self, key: str, history: Sequence[EpochRecord]) -> None:
        """Write a trial's score at each rung it has reached; existing scores do not change."""
        for rung in self.rule.rungs(len(history)):
            if self._read(rung, key) is None:
                self._write(rung, key, {"score": best_epoch(history[:rung]).dev_accuracy})

    def should_stop(self, model: str, key: str, epochs: int) -> bool:
        """Return whether a recorded trial ends here; the first decision at a rung is kept."""
        if epochs not in self.rule.rungs(epochs):
            return False
        entry = self._read(epochs, key)
        assert entry is not None, "not recorded"
        if "cut" not in entry:
            others = [self._read(epochs, other) for other in self.keys[model]]
            scores = [other["score"] for other in others if other]
            entry["cut"] = not self.rule.is_promoted(entry["score"], scores)
            self._write(epochs, key, entry)
        return bool(entry["cut"])

    def delete(self) -> None:
        """Delete the files of these trials."""
        for keys in self.keys.values():
            for key in keys:
                for rung in self.rule.rungs(self.max_epochs):
                    self.storage.remove(_name(rung, key))

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
