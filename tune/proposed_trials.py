"""The trials that a sweep proposes, in a ledger that survives crashes. Does not import Ray."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from actmodels.ranges import Point
from actmodels.records import TrialRecord
from tune.grid import Trial, grid_hash
from tune.search import grid_order
from tune.storage import Storage


class ProposedTrials:
    """The trials of a sweep: all that are planned, or those that a sequential search proposes.

    The ledger lists the proposed points in order. The same search on the same grid continues it.

    Attributes:
        templates: a trial of each model, from which those of a search differ by their points.
        keys: of the proposed trials, in order.
        scores: dev accuracy of the finished ones by key; 0 if a trial diverged.
    """

    def __init__(
        self,
        planned: Sequence[Trial],
        storage: Storage,
        load: Callable[[Trial], TrialRecord | None],
    ) -> None:
        self.templates = [trial for trial in planned if trial.search]
        self._storage, self._load = storage, load
        self._trials: dict[str, Trial] = {}
        self._points: dict[str, Point] = {}
        self.scores: dict[str, float] = {}
        self._by_model = {trial.config.model: trial for trial in self.templates}
        self._limits = {m: t.search.limit for m, t in self._by_model.items() if t.search}
        self.total = sum(self._limits.values()) or len(planned)
        if self.templates:
            self._ledger = f"search/{grid_hash(self.templates)}.json"
            self._read()
        else:
            self._trials = {trial.key: trial for trial in planned}

    @property
    def keys(self) -> list[str]:
        """See the class."""
        return list(self._trials)

    @property
    def trials(self) -> list[Trial]:
        """The proposed trials, in the order of the grid."""
        if not self.templates:
            return list(self._trials.values())
        ordered = []
        for template in self.templates:
            assert template.search is not None
            order = grid_order(template.search.axes)
            keys = self.peers(template)
            ordered += sorted(keys, key=lambda key: order(self._points[key]))
        return [self._trials[key] for key in ordered]

    @property
    def remaining(self) -> int:
        """The number of trials that will be proposed."""
        return self.total - len(self._trials)

    def peers(self, trial: Trial) -> list[str]:
        """Return the keys of the proposed trials of a model; none without a search."""
        return [key for key in self._points if self._trials[key].config.model == trial.config.model]

    def unfinished(self) -> list[Trial]:
        """Return the proposed trials without a record; if all have one, propose one more."""
        trials = [trial for key, trial in self._trials.items() if not self.is_finished(key)]
        if not trials and (trial := self.ask()):
            trials = [trial]
        return trials

    def is_finished(self, key: str) -> bool:
        """Load the record of a trial, if it exists, and keep its score."""
        record = self._load(self._trials[key])
        if record:
            self.scores[key] = 0.0 if record.diverged else record.best.dev_accuracy
        return record is not None

    def ask(self) -> Trial | None:
        """Propose the next trial without a record; None if there is none."""
        while self.remaining:
            counts = Counter(self._trials[key].config.model for key in self._points)
            open_models = [m for m, limit in self._limits.items() if counts[m] < limit]
            template = self._by_model[min(open_models, key=counts.__getitem__)]
            assert template.search is not None
            scores = [(self._points[key], self.scores.get(key)) for key in self.peers(template)]
            point = template.search.propose(template.config.model, scores)
            trial = self._add(template, point)
            ledger = [[self._trials[k].config.model, each] for k, each in self._points.items()]
            self._storage.write_named(self._ledger, json.dumps(ledger).encode())
            if not self.is_finished(trial.key):
                return trial
        return None

    def _add(self, template: Trial, point: Point) -> Trial:
        trial = template.at(point)
        self._trials[trial.key], self._points[trial.key] = trial, point
        return trial

    def _are_proposals(self, entries: Any) -> bool:
        """Return whether a value is a list of different points of the models."""
        keys = set()
        for model, point in entries:
            template = self._by_model[model]
            assert template.search is not None
            if template.search.axes.keys() != dict(point).keys():
                return False
            keys.add(template.at(point).key)
        return type(entries) is list and len(keys) == len(entries)

    def _read(self) -> None:
        """Read the ledger, at most the limit of each model."""
        notes = list[str]()
        corrupt = self._storage.quarantining(self._ledger, notes, "the search starts over")
        with suppress(FileNotFoundError), corrupt:
            counts = Counter[str]()
            for model, point in self._storage.read_json(self._ledger, self._are_proposals):
                counts[model] += 1
                if counts[model] <= self._limits[model]:
                    self._add(self._by_model[model], point)
        if notes:
            print(*notes, sep="\n", file=sys.stderr, flush=True)
