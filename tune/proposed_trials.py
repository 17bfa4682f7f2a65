"""The trials that a sweep proposes, in a ledger that survives crashes. Does not import Ray."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from actmodels.records import TrialRecord
from tune.grid import Trial, grid_hash
from tune.storage import Storage


class ProposedTrials:
    """The trials of a sweep: all candidates, or those that a sequential search proposes.

    The ledger lists the keys of proposed trials in order. The same search on the same grid
    continues it.

    Attributes:
        keys: of the proposed trials, in order.
        scores: dev accuracy of the finished ones by key; 0 if a trial diverged.
    """

    def __init__(
        self,
        candidates: Sequence[Trial],
        storage: Storage,
        load: Callable[[Trial], TrialRecord | None],
    ) -> None:
        self.search, self._storage, self._load = candidates[0].search, storage, load
        self._groups: dict[str, list[Trial]] = {}
        for trial in candidates:
            self._groups.setdefault(trial.config.model, []).append(trial)
        self._candidates = {trial.key: trial for trial in candidates}
        self.keys = list(self._candidates)
        self.scores: dict[str, float] = {}
        self.total = len(candidates)
        if self.search:
            self._ledger = f"search/{grid_hash(candidates)}.json"
            limits = {m: (self.search.points or len(g)) for m, g in self._groups.items()}
            self._limits = {m: min(limits[m], len(g)) for m, g in self._groups.items()}
            self.total, self.keys = sum(self._limits.values()), self._read()

    @property
    def trials(self) -> list[Trial]:
        """The proposed trials, in the order of the grid."""
        proposed = set(self.keys)
        return [trial for key, trial in self._candidates.items() if key in proposed]

    @property
    def unproposed(self) -> list[Trial]:
        """The trials that may still be proposed."""
        proposed = set(self.keys)
        return [t for t in self._candidates.values() if t.key not in proposed and self.remaining]

    @property
    def remaining(self) -> int:
        """The number of trials that will be proposed."""
        return self.total - len(self.keys)

    def unfinished(self) -> list[Trial]:
        """Return the proposed trials without a record; if all have one, propose one more."""
        trials = [self._candidates[key] for key in self.keys if not self.is_finished(key)]
        if not trials and (trial := self.ask()):
            trials = [trial]
        return trials

    def is_finished(self, key: str) -> bool:
        """Load the record of a trial, if it exists, and keep its score."""
        record = self._load(self._candidates[key])
        if record:
            self.scores[key] = 0.0 if record.diverged else record.best.dev_accuracy
        return record is not None

    def ask(self) -> Trial | None:
        """Propose the next trial without a record; None if there is none."""
        while self.remaining:
            assert self.search is not None
            counts = Counter(self._candidates[key].config.model for key in self.keys)
            open_models = [m for m, limit in self._limits.items() if counts[m] < limit]
            group = self._groups[min(open_models, key=counts.__getitem__)]
            indices = {trial.key: index for index, trial in enumerate(group)}
            scores = {indices[k]: self.scores.get(k) for k in self.keys if k in indices}
            trial = group[self.search.propose([t.config for t in group], scores)]
            self.keys.append(trial.key)
            self._storage.write_named(self._ledger, json.dumps(self.keys).encode())
            if not self.is_finished(trial.key):
                return trial
        return None

    def _are_keys(self, keys: Any) -> bool:
        """Return whether a value is a list of different trials' keys."""
        return type(keys) is list and len(self._candidates.keys() & set(keys)) == len(keys)

    def _read(self) -> list[str]:
        """Return the keys of the ledger, at most the limit of each model."""
        notes, keys = list[str](), list[str]()
        corrupt = self._storage.quarantining(self._ledger, notes, "the search starts over")
        with suppress(FileNotFoundError), corrupt:
            counts = Counter[str]()
            for key in self._storage.read_json(self._ledger, self._are_keys):
                model = self._candidates[key].config.model
                counts[model] += 1
                if counts[model] <= self._limits[model]:
                    keys.append(key)
        if notes:
            print(*notes, sep="\n", file=sys.stderr, flush=True)
        return keys
