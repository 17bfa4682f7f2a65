"""The trials that a sweep proposes, in a ledger that survives crashes. Does not import Ray."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from statistics import fmean
from typing import Any

from actmodels.ranges import Point
from actmodels.records import TrialRecord
from tune.trials.grid import Trial, grid_hash
from tune.trials.search import grid_order
from tune.trials.storage import Storage


class ProposedTrials:
    """The trials of a sweep: all that are planned, or those that a sequential search proposes.

    The ledger lists the proposed points in order. The same search on the same grid continues it.

    Attributes:
        templates: a trial of each model and seed, from which those of a search differ by their
            points.
        by_key: the proposed trials, in order; each point has all seeds.
        scores: those of the finished ones by key, see TrialRecord.
    """

    def __init__(
        self,
        planned: Sequence[Trial],
        storage: Storage,
        load: Callable[[Trial], TrialRecord | None],
    ) -> None:
        self.templates = [trial for trial in planned if trial.search]
        self._storage, self._load = storage, load
        self.by_key: dict[str, Trial] = {}
        self._points: list[tuple[str, Point, list[str]]] = []  # model, point, keys of its seeds
        self.scores: dict[str, float] = {}
        self._lost = set[str]()
        self._by_model: dict[str, list[Trial]] = {}
        for trial in self.templates:
            self._by_model.setdefault(trial.config.model, []).append(trial)
        searches = {model: seeds[0].search for model, seeds in self._by_model.items()}
        self._searches = {model: search for model, search in searches.items() if search}
        points = sum(s.limit * len(self._by_model[m]) for m, s in self._searches.items())
        self.total = points or len(planned)
        if self.templates:
            self._ledger = f"search/{grid_hash(self.templates)}.json"
            self._read()
        else:
            self.by_key = {trial.key: trial for trial in planned}

    @property
    def keys(self) -> list[str]:
        """The keys of the proposed trials."""
        return list(self.by_key)

    @property
    def trials(self) -> list[Trial]:
        """The proposed trials, in the order of the grid."""
        if not self.templates:
            return list(self.by_key.values())
        ordered = list[str]()
        for model, search in self._searches.items():
            order = grid_order(search.axes)
            for _, keys in sorted(self._proposals(model), key=lambda pair: order(pair[0])):
                ordered += keys
        return [self.by_key[key] for key in ordered]

    @property
    def remaining(self) -> int:
        """The number of trials that will be proposed."""
        return self.total - len(self.by_key)

    def peers(self, trial: Trial) -> list[list[str]]:
        """Return the keys of the proposed points of a trial's model; none without a search."""
        return [keys for _, keys in self._proposals(trial.config.model)]

    def _proposals(self, model: str) -> list[tuple[Point, list[str]]]:
        return [(point, keys) for name, point, keys in self._points if name == model]

    def _score(self, keys: Sequence[str]) -> float | None:
        """Return the mean over the seeds of a point; None if one is missing.

        If one diverged, it is that of a lost trial.
        """
        if not all(key in self.scores for key in keys):
            return None
        scores = [self.scores[key] for key in keys]
        return min(scores) if self._lost & {*keys} else fmean(scores)

    def unfinished(self) -> list[Trial]:
        """Return the proposed trials without a record; if all have one, propose one more point."""
        return [t for key, t in self.by_key.items() if not self.is_finished(key)] or self.ask()

    def is_finished(self, key: str) -> bool:
        """Load the record of a trial, if it exists, and keep its score."""
        record = self._load(self.by_key[key])
        if record:
            self.scores[key] = record.score
            self._lost |= {key} if record.diverged else set()
        return record is not None

    def ask(self) -> list[Trial]:
        """Propose the next point; return its trials without a record, none if there is no point."""
        while self.remaining:
            counts = Counter(model for model, *_ in self._points)
            open_models = [m for m, search in self._searches.items() if counts[m] < search.limit]
            model = min(open_models, key=counts.__getitem__)
            scores = [(point, self._score(keys)) for point, keys in self._proposals(model)]
            trials = self._add(model, self._searches[model].propose(model, scores))
            ledger = [[model, point] for model, point, _ in self._points]
            self._storage.write_named(self._ledger, json.dumps(ledger).encode())
            if unfinished := [trial for trial in trials if not self.is_finished(trial.key)]:
                return unfinished
        return []

    def _add(self, model: str, point: Point) -> list[Trial]:
        trials = [template.at(point) for template in self._by_model[model]]
        self.by_key |= {trial.key: trial for trial in trials}
        self._points.append((model, point, [trial.key for trial in trials]))
        return trials

    def _are_proposals(self, entries: Any) -> bool:
        """Return whether a value is a list of different points of the models."""
        keys = set()
        for model, point in entries:
            if self._searches[model].axes.keys() != dict(point).keys():
                return False
            keys.add(self._by_model[model][0].at(point).key)
        return type(entries) is list and len(keys) == len(entries)

    def _read(self) -> None:
        """Read the ledger, at most the limit of each model."""
        notes = list[str]()
        corrupt = self._storage.quarantining(self._ledger, notes, "the search starts over")
        with suppress(FileNotFoundError), corrupt:
            counts = Counter[str]()
            for model, point in self._storage.read_json(self._ledger, self._are_proposals):
                counts[model] += 1
                if counts[model] <= self._searches[model].limit:
                    self._add(model, point)
        if notes:
            print(*notes, sep="\n", file=sys.stderr, flush=True)
