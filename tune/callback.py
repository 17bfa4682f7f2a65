"""What the driver does while Ray runs the trials: record, track, show."""

import errno
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray.tune
from tqdm import tqdm

from actmodels.errors import SweepError
from actmodels.files import DamagedError
from actmodels.records import TrialRecord
from tune.failures import UNREACHED, Failure
from tune.fusion import Fusion
from tune.grid import Trial
from tune.node_check import FullError, NodeError, name_of
from tune.nodes import Nodes
from tune.progress import Progress
from tune.storage import Storage, is_away, usable
from tune.store import TrialStore
from tune.tracking import Tracker, TrialState, final_state
from tune.trainable import News, checkpoint_name, load_checkpoint

_current: "DriverCallback | None" = None


def current_callback() -> "DriverCallback | None":
    """What a pickled DriverCallback turns into: Ray stores its callbacks with the experiment."""
    return _current


class SweepStopper(ray.tune.Stopper):
    """Ends a round once it is useless to go on, or better to begin another."""

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """See ray.tune.Stopper: no trial alone."""
        return False

    def stop_all(self) -> bool:
        """See ray.tune.Stopper."""
        return _current is not None and (bool(_current.ends) or _current.look_for_room())


@dataclass(eq=False, repr=False)
class DriverCallback(ray.tune.Callback):
    """The single writer of records and of MLflow runs.

    Ray knows fusions; everything here is about their trials, each of which is recorded as soon as
    it has ended, whatever becomes of its fusion.

    traces: folder where errors are written whole. ends: why it is useless to go on, if it is.
    fusions: of this round. room: how many there was room for. outgrown: there is room for more.
    errors: why trials were given up, by key. ended: keys of those recorded or given up.
    again: fusions that Ray must be handed once more. losses: how often trials were lost.
    unread: keys of those whose weights cannot be had. on: address of the last node of a fusion.
    """

    trials: Mapping[str, Trial]
    store: TrialStore
    tracker: Tracker
    progress: Progress
    checkpoints: Storage
    traces: Path
    keep_weights: bool
    nodes: Nodes
    ends: str = field(default="", init=False)
    fusions: list[Fusion] = field(default_factory=list, init=False)
    room: int = field(default=0, init=False)
    outgrown: bool = field(default=False, init=False)
    errors: dict[str, str] = field(default_factory=dict, init=False)
    ended: set[str] = field(default_factory=set, init=False)
    again: list[Fusion] = field(default_factory=list, init=False)
    losses: Counter[str] = field(default_factory=Counter, init=False)
    unread: set[str] = field(default_factory=set, init=False)
    on: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        global _current
        _current = self

    def __reduce__(self) -> tuple[Any, ...]:
        return (current_callback, ())

    def begin(self, fusions: list[Fusion]) -> None:
        """Another round begins, with these fusions."""
        self.again.clear()
        self.fusions, self.room, self.outgrown = fusions, self.nodes.room, False

    def left(self) -> list[Fusion]:
        """What of this round's fusions has not ended."""
        left = [
            tuple(t for t in fusion.trials if t.key not in self.ended) for fusion in self.fusions
        ]
        return [Fusion(trials) for trials in left if trials]

    def look_for_room(self) -> bool:
        """Whether nodes have joined that have nothing to do, while fusions could be smaller."""
        if self.nodes.room > self.room and not self.outgrown:
            left = self.left()
            several = any(len(fusion.trials) > 1 for fusion in left)
            self.outgrown = several and len(left) < self.nodes.room
        return self.outgrown

    def left_of(self, ray_trial: Any) -> list[Trial]:
        """The trials behind one of Ray's that have not ended."""
        return [self.trials[key] for key in ray_trial.config["fusion"] if key not in self.ended]

    def on_trial_start(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Ray started a fusion, for the first time or again."""
        for ours in self.left_of(trial):
            self.progress.started(ours.name)
            self.tracker.update(ours, TrialState())

    def on_trial_result(
        self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any
    ) -> None:
        """A fusion reported an epoch of some of its trials."""
        for note in result["notes"]:
            tqdm.write(note, file=sys.stderr)
        self.on[trial.trial_id] = result["node_ip"]
        node = f"{result['hostname']} ({result['node_ip']})"
        for ours in self.left_of(trial):
            if news := result["trials"].get(ours.key):
                self.tracker.update(ours, TrialState(history=news.history, load=result["load"]))
                best = max(epoch.dev_accuracy for epoch in news.history)
                self.progress.reached(ours.name, len(news.history), best)
                if news.finished:
                    self.finished(ours, news, {"node": node, **result["machine"]})

    def finished(self, trial: Trial, news: News, machine: dict[str, Any]) -> None:
        """Record a trial that has ended."""
        record = TrialRecord(
            key=trial.key,
            config=trial.config.as_dict(),
            parameters=news.parameters,
            history=tuple(news.history),
            provenance=trial.origin,
            diverged=news.diverged,
            machine=machine,
        )
        weights = None
        if self.keep_weights:
            try:
                weights = load_checkpoint(self.checkpoints, trial.key)["best_parameters"]
            except (DamagedError, OSError) as error:
                self.not_read(trial, error)
                return
        with self.ends_without(self.store.place):
            self.store.save(record, weights)
        if not self.ends:
            self.trace(trial).unlink(missing_ok=True)  # of an earlier run
            self.over(trial, record, failed=record.diverged)

    def over(self, trial: Trial, result: TrialRecord | str, *, failed: bool) -> None:
        """Nothing more is tried for a trial."""
        self.ended.add(trial.key)
        self.tracker.update(trial, final_state(result))
        self.progress.ended(trial.name, trial.config.max_epochs, failed=failed)

    def not_read(self, trial: Trial, error: Exception) -> None:
        """A trial has finished, but its weights cannot be had: it is run again later."""
        aside = ""
        with self.ends_without(self.checkpoints):
            if isinstance(error, DamagedError):
                aside = f"; set aside as {self.checkpoints.quarantine(checkpoint_name(trial.key))}"
            elif isinstance(error, OSError) and is_away(error):
                raise error
        if not self.ends:
            tqdm.write(f"{error}{aside}, the trial is run again", file=sys.stderr)
            self.unread.add(trial.key)

    def trace(self, trial: Trial) -> Path:
        """Where the errors of a trial lie if it was given up."""
        return self.traces / f"{trial.name}.txt"

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """A fusion ended, or was stopped from outside (Ctrl-C)."""
        self.remove_checkpoints(trial)
        if unread := [ours for ours in self.left_of(trial) if ours.key in self.unread]:
            self.lost(unread, trial.max_failures, "its checkpoint could not be read")

    def remove_checkpoints(self, ray_trial: Any) -> None:
        """Delete those of a fusion's recorded trials, not earlier.

        A fusion whose worker dies starts again with all its trials, and knows ended ones by them.
        """
        for key in ray_trial.config["fusion"]:
            if key in self.ended and key not in self.errors:
                with self.ends_without(self.checkpoints):
                    self.checkpoints.remove(checkpoint_name(key))

    def on_trial_recover(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """A fusion failed and starts again, each of its trials from its last saved epoch."""
        left, failure = self.left_of(trial), Failure.of(trial)
        if not left or self.not_its_fault(failure):
            return
        reason, node = failure.reason, self.on.get(trial.trial_id) or failure.node
        gone = bool(node) and self.nodes.joined and self.nodes.lost(node)
        if gone:
            reason = f"node {node} does not answer any more"
        if gone or reason == UNREACHED:
            trial.run_metadata.num_failures -= 1  # not the trial's own
        tqdm.write(f"{Fusion(tuple(left)).name}: {reason}; it starts again", file=sys.stderr)

    def not_its_fault(self, failure: Failure) -> bool:
        """A fusion failed by its node or by the store, which is seen to here."""
        error, _, said = failure.reason.partition(": ")
        if error not in (name_of(FullError), name_of(NodeError)):
            return False
        with self.ends_without(self.checkpoints):
            if error == name_of(FullError):
                raise OSError(errno.ENOSPC, "full")
            if not self.nodes.awaited_store():
                self.nodes.recheck_node(said)
        return True

    @contextmanager
    def ends_without(self, place: Storage) -> Iterator[None]:
        """End the sweep where a store is full or stays away."""
        try:
            with usable(place):
                yield
        except SweepError as error:
            self.ends = str(error)

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Ray gave a fusion up: it failed more often than it may, or too early.

        Where a worker dies between two fusions, Ray tells of its death twice and gives the next
        fusion up at the second, though restarts are left. Such a fusion is lost, not failed: it is
        handed to Ray again. One that failed goes on as two halves, until the trial that makes
        it fail, or needs too much memory, is alone.
        """
        self.remove_checkpoints(trial)
        left, failure = self.left_of(trial), Failure.of(trial)
        if left and trial.num_failures <= trial.max_failures:
            self.lost(left, trial.max_failures, "its workers died")
        elif len(left) == 1:
            self.gave_up(left[0], failure.told(self.trace(left[0])))
        elif left:
            halves = Fusion(tuple(left)).halves()
            self.again += halves
            names = " and ".join(f"{half.name} ({len(half.trials)})" for half in halves)
            why = f"a fusion failed: {failure.reason}; its trials go on as {names}"
            tqdm.write(why, file=sys.stderr)

    def lost(self, trials: list[Trial], most: int, how: str) -> None:
        """Hand trials to Ray again, but for those that were lost more often than they may be."""
        self.losses.update(trial.key for trial in trials)
        for trial in trials:
            if self.losses[trial.key] > most:
                self.gave_up(trial, f"{how} again and again; see the log above")
        if left := tuple(trial for trial in trials if trial.key not in self.ended):
            self.again.append(Fusion(left))

    def gave_up(self, trial: Trial, reason: str) -> None:
        """Note why there is no result of a trial."""
        self.errors[trial.key] = reason
        self.over(trial, reason, failed=True)
