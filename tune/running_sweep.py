"""A sweep that runs: its trials with their records, checkpoints, ledger and run in MLflow.

Does not import Ray, which trains the trials that this object gives, and tells it how they end.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from actmodels.errors import SweepError
from actmodels.records import TrialRecord
from tune.failures import Failure
from tune.loggers import Loggers
from tune.notify import notify
from tune.progress import say
from tune.tracking.tracker import Results, Tracker, final_state
from tune.trials.execution import Execution
from tune.trials.fusion import Fusion, fusion_name, split_largest
from tune.trials.grid import Trial, grid_hash, rung_scores
from tune.trials.proposed_trials import ProposedTrials
from tune.trials.provenance import code_folder, provenance_tags
from tune.trials.stops import TIME_LIMIT, Stops, ended_by, ended_text
from tune.trials.storage import Storage, prepare, storage_errors
from tune.trials.store import TrialStore, checkpoint_name, load_checkpoint

NO_RESULT = "no result"  # reason of a trial without a record
LOOK = 2.0  # seconds between looks for the sweep's end


class RunningSweep:
    """The trials of a stage, each trained once, and the single writer of their results.

    Args:
        stage: part of MLflow's names and of messages.
        trials: with a sequential search, one for each model and seed.
        keep_weights: whether the store keeps the best weights, for stages that need whole trials:
            nobody can end these earlier.

    Attributes:
        group: digest of the trials.
        loggers: the registered ones; MLflow has the tracker.
        proposed: the ledger of the trials.
        rung_scores: of early stopping, if there is one.
        waiting: fusions that Ray has not been given, or has given up.
        ended: keys of trials that were recorded or given up.
        errors: reasons of trials that were given up, by key.
        failures: how often the fusion of a trial failed, or its checkpoint was not read, by key.
        unreadable: keys of finished trials whose weights could not be read.
        fatal_error: why the sweep must end; empty if it need not.
        stops: requests to end trials, or the sweep with its best.
        stopped: records of trials that they ended, by key.
        ending: what ends the sweep with its best; empty if nothing does.
    """

    def __init__(
        self, stage: str, trials: list[Trial], execution: Execution, keep_weights: bool
    ) -> None:
        if len({trial.key for trial in trials}) != len(trials):
            raise SweepError(f"{stage}: the grid has a trial twice; make its points distinct")
        self.stage, self.execution, self.keep_weights = stage, execution, keep_weights
        self.checkpoints, self.store = execution.checkpoints, TrialStore(execution.trials)
        self.group, self.rung_scores = grid_hash(trials), rung_scores(trials, self.checkpoints)
        with storage_errors(self.checkpoints):
            prepare(self.checkpoints, "cluster.storage")
            prepare(self.store.storage, "cluster.state")
            self.proposed = ProposedTrials(trials, self.store.storage, self._load)
        digests = dict.fromkeys(trial.origin["data"] for trial in trials)
        tags = provenance_tags(code_folder(trials[0].config))
        tags |= {"grid_hash": self.group, "data_digest": ", ".join(digests)}
        data = (execution.dataset, execution.data_folder)
        self.tracker = Tracker(stage, self.group, tags, execution.state, data, execution.about)
        self.loggers = Loggers(f"{execution.about.name or stage}-{self.group[:8]}")
        self.waiting: list[Fusion] = []
        self.ended: set[str] = set()
        self.errors: dict[str, str] = {}
        self.failures: Counter[str] = Counter()
        self.unreadable: set[str] = set()
        self.fatal_error = ""
        self.stops = None if keep_weights else Stops(self.checkpoints, self.group)
        self.stopped: dict[str, TrialRecord] = {}
        self.ending, self._look_at, self._started = "", 0.0, time.monotonic()
        self._results: Results = ()
        self._models = dict.fromkeys(trial.config.model for trial in trials)

    @contextmanager
    def opened(self) -> Iterator[list[Trial]]:
        """Yield the unfinished trials; with the block the run in MLflow ends.

        Raises:
            SweepError: a storage is full or cannot be reached.
        """
        status, unfinished = "KILLED", list[Trial]()
        try:
            with storage_errors(self.checkpoints):
                if self.stops:  # the same command continues what was ended
                    self.stops.withdraw(self.group)
                unfinished = self._unfinished()
                yield unfinished
                if self.stops and not self.ending:  # it came too late
                    self.stops.withdraw(self.group)
            status = "FINISHED"
        except SweepError:
            status = "FAILED"
            raise
        finally:
            records = [of for _, of in self._results if isinstance(of, TrialRecord)]
            total, models = self.proposed.total, self._models
            ended = ended_text(self.ending, records, total, models) if self.ending else ""
            self.tracker.finish(status, self._metrics(records), self._results, ended)
            if unfinished and self.execution.notify:
                notify(self.execution.notify, self._message(status, ended))

    def _message(self, status: str, ended: str) -> dict[str, Any]:
        """Return what `cluster.notify` sends: a text, as Slack reads it, and its numbers."""
        state = {"FINISHED": "ended" if ended else "finished", "KILLED": "interrupted"}
        scores = [*self.proposed.scores.values(), *(r.score for r in self.stopped.values())]
        numbers = {"state": state.get(status, "failed"), "best": max(scores, default=None)}
        numbers["minutes"] = round((time.monotonic() - self._started) / 60, 1)
        name = f"{self.stage} {self.execution.about.name}".strip()
        best = "none" if numbers["best"] is None else f"{numbers['best']:.4g}"
        text = f"{name}: {numbers['state']} after {numbers['minutes']} minutes, best score {best}"
        return {"text": f"{text}; {ended}" if ended else text, **numbers}

    def _load(self, trial: Trial) -> TrialRecord | None:
        if record := self.store.load(trial.key, needs_weights=self.keep_weights):
            if not ended_by(record):  # the checkpoint of a worker that outlived its driver
                self.checkpoints.remove(checkpoint_name(trial.key))
            if self.rung_scores:
                self.rung_scores.record_result(record)
        return record

    def _unfinished(self) -> list[Trial]:
        unfinished = self.proposed.unfinished()
        if self.rung_scores and (notes := self.rung_scores.notes):
            print(*notes, sep="\n", file=sys.stderr, flush=True)
            notes.clear()  # workers have their own
        count = len(unfinished) + self.proposed.remaining
        print(f"{self.stage}: {count} of {self.proposed.total} trials to run", flush=True)
        return unfinished

    def records(self) -> list[TrialRecord]:
        """Return the records of all trials, in the order of the grid; without those never started
        if the sweep was ended.

        Raises:
            SweepError: names the trials without one; of a sweep that was ended, the models.
        """
        results = [(trial, self._result(trial)) for trial in self.proposed.trials]
        if self.ending:
            results = [(trial, result) for trial, result in results if result != NO_RESULT]
        self._results = results
        if self.ending:
            self._check_models({trial.config.model for trial, _ in results})
        records = [result for _, result in self._results if isinstance(result, TrialRecord)]
        if failed := [(trial, why) for trial, why in self._results if isinstance(why, str)]:
            raise SweepError(
                f"{self.stage}: {len(failed)} of {len(self._results)} trials did not finish; "
                "nothing was written; run the same command again to retry them"
                + "".join(f"\n  {trial.name}: {why}" for trial, why in failed)
            )
        if self.rung_scores and not self.ending:
            self.rung_scores.delete(self.proposed.keys)  # the records have the same scores
        return records

    def _check_models(self, have: set[str]) -> None:
        """Raise SweepError if the time limit left a model without a result, or no model has one.

        A user who ends the sweep chose the moment; `ended_text` names the models then.
        """
        lost = [model for model in self._models if model not in have]
        if lost and (self.ending == TIME_LIMIT or not have):
            longer = ", or set a longer sweep.time_limit" if self.ending == TIME_LIMIT else ""
            raise SweepError(
                f"{self.stage}: {self.ending} ended it before a trial of {', '.join(lost)} had an "
                f"epoch; nothing was written; run the same command again to go on{longer}"
            )

    def _result(self, trial: Trial) -> TrialRecord | str:
        record = self.store.load(trial.key, needs_weights=self.keep_weights)
        return record or self.stopped.get(trial.key) or self.errors.get(trial.key, NO_RESULT)

    def is_ending(self) -> bool:
        """Return whether something ends the sweep with its best, as of a look every LOOK seconds.

        No further trial starts then, and the running ones end after their epoch.
        """
        now = time.monotonic()
        if self.stops and not self.ending and now >= self._look_at:
            self._look_at = now + LOOK
            with self.fatal_errors(self.checkpoints):
                if now - self._started >= self.execution.time_limit:
                    self.stops.request(self.group, TIME_LIMIT)
                self._end_with(self.stops.reason())
        return bool(self.ending)

    def _end_with(self, reason: str) -> None:
        if reason and not self.ending:
            self.ending = reason
            say(f"{self.stage}: {reason} ends it; running trials end after their epoch")

    def _metrics(self, records: Sequence[TrialRecord]) -> dict[str, float]:
        """Return what MLflow shows of the sweep itself."""
        metrics = {"trials": float(self.proposed.total)}
        if kept := [record for record in records if not record.diverged]:
            best = max(kept, key=lambda record: record.score).best.headline()
            name, value = next(iter(best.items()))
            metrics[f"best_{name}"] = value
        return metrics

    def unfinished(self, keys: list[str]) -> list[Trial]:
        """Return the trials of these keys that have not ended."""
        return [self.proposed.by_key[key] for key in keys if key not in self.ended]

    def unfinished_fusions(self, fusions: Iterable[Fusion]) -> list[Fusion]:
        """Return fusions without the trials that have ended; without those that have none left."""
        left = (self.unfinished([trial.key for trial in fusion]) for fusion in fusions)
        return [fusion for fusion in left if fusion]

    def record(self, record: TrialRecord) -> bool:
        """Store a finished trial; return whether it was, else its weights cannot be read."""
        trial = self.proposed.by_key[record.key]
        weights = self._read_weights(trial) if self.keep_weights else None
        if self.keep_weights and weights is None:
            return False
        if by := ended_by(record):
            self.stopped[trial.key] = record
        with self.fatal_errors(self.store.storage):
            if by and self.stops and not self.stops.requested(trial.key):
                self._end_with(by)  # the trial continues with the sweep
            else:
                self.store.save(record, weights)
            self.trace(trial).unlink(missing_ok=True)  # an earlier run may have left it
            self._end(trial, record)
        return trial.key in self.ended

    def _read_weights(self, trial: Trial) -> dict[str, Any] | None:
        notes: list[str] = []
        name, consequence = checkpoint_name(trial.key), "the trial starts over"
        try:
            corrupt = self.checkpoints.quarantining(name, notes, consequence)
            with self.fatal_errors(self.checkpoints), corrupt:
                return dict(load_checkpoint(self.checkpoints, trial.key)["best_parameters"])
        except OSError as error:
            notes.append(f"{error}; {consequence}")
        if not self.fatal_error:
            say(*notes)
            self.unreadable.add(trial.key)
        return None

    @contextmanager
    def fatal_errors(self, storage: Storage) -> Iterator[None]:
        """End the sweep if a storage is full or stays unreachable in the block."""
        try:
            with storage_errors(storage):
                yield
        except SweepError as error:
            self.fatal_error = str(error)

    def trace(self, trial: Trial) -> Path:
        """Return the file of the error tracebacks of a trial that was given up."""
        return self.execution.failures / f"{trial.name}.txt"

    def remove_checkpoints(self, keys: list[str]) -> None:
        """Delete the checkpoints of recorded trials of a fusion that has ended.

        Those of stopped trials stay. Not earlier: if its worker dies, the fusion restarts with all
        its trials, and skips those whose checkpoints are complete.
        """
        for key in self.ended.intersection(keys) - self.errors.keys() - self.stopped.keys():
            with self.fatal_errors(self.checkpoints):
                self.checkpoints.remove(checkpoint_name(key))

    def start_over(self, keys: list[str]) -> list[Trial]:
        """Train finished trials again whose weights cannot be read; return those given up."""
        why = "its checkpoint could not be read repeatedly; see the log above"
        lost = [trial for trial in self.unfinished(keys) if trial.key in self.unreadable]
        given_up = [trial for trial in lost if self._fails_too_often([trial])]
        for trial in given_up:
            self._give_up(trial, why)
        if again := [trial for trial in lost if trial not in given_up]:
            self.waiting.append(again)
        return given_up

    def fail(self, fusion: list[Trial], failure: Failure) -> list[Trial]:
        """Restart a fusion that failed, as halves if it failed too often; return those given up.

        So the trial that fails, or needs too much memory, is alone in the end, and is given up
        (see by_configuration). Each trial continues from its last checkpoint.
        """
        if not self._fails_too_often(fusion):
            self.restart(fusion, failure.reason)
            return []
        for trial in fusion:
            del self.failures[trial.key]
        if len(halves := split_largest([fusion], 2)) == 1:
            for trial in fusion:
                self._give_up(trial, failure.save(self.trace(trial)))
            return fusion
        self.waiting += halves
        names = " and ".join(f"{fusion_name(half)} ({len(half)})" for half in halves)
        say(f"a fusion failed: {failure.reason}; its trials continue as {names}")
        return []

    def restart(self, fusion: list[Trial], reason: str) -> None:
        """Give a fusion to Ray again, before the others."""
        say(f"{fusion_name(fusion)}: {reason}; it restarts")
        self.waiting.insert(0, fusion)

    def _fails_too_often(self, trials: list[Trial]) -> bool:
        self.failures.update(trial.key for trial in trials)
        return any(self.failures[trial.key] > self.execution.max_failures for trial in trials)

    def _give_up(self, trial: Trial, reason: str) -> None:
        self.errors[trial.key] = reason
        self._end(trial, reason)
        if self.execution.fail_fast:
            why = f"{self.stage}: cluster.fail_fast ended it, as {trial.name} failed: {reason}"
            self.fatal_error = f"{why}; nothing was written; run the same command again to go on"

    def _end(self, trial: Trial, result: TrialRecord | str) -> None:
        self.ended.add(trial.key)
        self.tracker.update(trial, final_state(result))
        self.loggers.ended(trial, result)
