"""Asynchronous successive halving (Li et al. 2018, ASHA) over single trials. No Ray.

After grace_period, grace_period * reduction_factor, ... epochs a trial stands on a rung, where its
best dev accuracy so far is compared with those of all trials of its model that have reached this
rung before it. Which trials are cut depends on the order in which they arrive, so two runs of one
sweep may cut different ones. A trial that is never cut has the results that it has without the
rule, and the best trial of a sweep is never cut.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Any

from actmodels.files import DamagedError
from actmodels.records import EpochRecord, best_epoch
from tune.storage import Storage


@dataclass(frozen=True)
class SuccessiveHalving:
    """The rule; it is in the keys of trials."""

    grace_period: int
    reduction_factor: int

    def __str__(self) -> str:
        return f"successive_halving after {self.grace_period}, one in {self.reduction_factor}"

    def rungs(self, epochs: int) -> list[int]:
        """The rungs that a trial has reached after so many epochs."""
        rungs = (self.grace_period * self.reduction_factor**power for power in count())
        return list(takewhile(lambda rung: rung <= epochs, rungs))

    def goes_on(self, score: float, scores: Sequence[float]) -> bool:
        """Whether a score is in the best share, rounded up, of its rung; equals go on together."""
        kept = -(-len(scores) // self.reduction_factor)
        return sum(other > score for other in scores) < kept


@dataclass(frozen=True)
class Rungs:
    """Who has reached which rung: a small file for each trial, seen by all workers.

    rivals: keys of a model's trials, by model. notes: on quarantined files, for the user.
    """

    place: Storage
    rule: SuccessiveHalving
    rivals: Mapping[str, Sequence[str]]
    most_epochs: int
    notes: list[str] = field(default_factory=list)

    def enter(self, key: str, history: Sequence[EpochRecord]) -> None:
        """Put down a trial's scores on the rungs it has reached; those put down already stay."""
        for rung in self.rule.rungs(len(history)):
            if self._read(rung, key) is None:
                self._write(rung, key, {"score": best_epoch(history[:rung]).dev_accuracy})

    def should_stop(self, model: str, key: str, epochs: int) -> bool:
        """Whether a trial that was entered ends here. Once taken, a decision stays."""
        if epochs not in self.rule.rungs(epochs):
            return False
        own = self._read(epochs, key)
        assert own is not None, "entered before"
        if "cut" not in own:
            entries = [self._read(epochs, rival) for rival in self.rivals[model]]
            scores = [entry["score"] for entry in entries if entry]
            own["cut"] = not self.rule.goes_on(own["score"], scores)
            self._write(epochs, key, own)
        return bool(own["cut"])

    def forget(self) -> None:
        """Remove the files of these trials."""
        for keys in self.rivals.values():
            for key in keys:
                for rung in self.rule.rungs(self.most_epochs):
                    self.place.remove(_name(rung, key))

    def _read(self, rung: int, key: str) -> dict[str, Any] | None:
        """An entry; None without one, or where it is damaged or another's and is set aside."""
        with suppress(FileNotFoundError):  # also where another worker set it aside
            try:
                found: dict[str, Any] = json.loads(self.place.read_named(_name(rung, key)))
                return found
            except DamagedError as error:
                aside = self.place.quarantine(_name(rung, key))
                self.notes.append(f"{error}; set aside as {aside}, this score is not compared")
        return None

    def _write(self, rung: int, key: str, entry: Mapping[str, Any]) -> None:
        self.place.write_named(_name(rung, key), json.dumps(entry).encode())


def _name(rung: int, key: str) -> str:
    return f"rungs/{rung}/{key}.json"
