"""A sweep whose driver is killed before any of its writes, again and again, and then ends."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from actmodels.records import EpochRecord, TrialRecord
from tests.samples import MODELS, keyed, sample_trial
from tests.tune.tracking_samples import WRITES, Killed, children, parents, steps
from tune.running_sweep import RunningSweep
from tune.tracking.mlflow_store import MlflowClient
from tune.tracking.tracker import TrialState, log_missing
from tune.trials.early_stopping import SuccessiveHalving
from tune.trials.execution import Execution
from tune.trials.grid import Trial
from tune.trials.storage import Storage
from tune.trials.store import TrialStore, load_checkpoint, save_checkpoint

EPOCHS, NEVER = 3, 10**9


def result(trial: Trial, epochs: int) -> TrialRecord:
    """The accuracy of a trial rises by its own, drawn from its key."""
    slope = int(trial.key[:4], 16) / 2**16 / EPOCHS
    history = tuple(
        EpochRecord(n, 1.0, 0.5, None, None, None, 1.0, slope * n, None, None, None)
        for n in range(1, epochs + 1)
    )
    return TrialRecord(trial.key, trial.config.as_dict(), 3, history, trial.origin, machine={})


class Driver(RuleBasedStateMachine):
    """Each rule is a process that drives the sweep to its end, unless it dies before."""

    folder: Path

    @initialize(stopping=st.booleans())
    def start(self, stopping: bool) -> None:
        number = len([*self.folder.iterdir()])  # MLflow keeps the files of earlier ones open
        state = Path(shutil.copytree(self.folder / "template", self.folder / f"state-{number}"))
        early = SuccessiveHalving(1, 2) if stopping else None
        configs = [sample_trial(MODELS[0], dropout=d / 10, max_epochs=EPOCHS) for d in (1, 2, 3)]
        self.trials = keyed(configs, early_stopping=early)
        self.execution = Execution(state, state, state / "ray")
        self.records: dict[str, TrialRecord] = {}  # seen in the store
        self.saved: dict[str, int] = {}  # epochs of checkpoints
        self.left = NEVER

    @rule(left=st.integers(0, 60))
    def run(self, left: int) -> None:
        """Die before the write of this number."""
        self.left = left
        with self.counting(), suppress(Killed):
            self.drive()
        self.left = NEVER

    @contextmanager
    def counting(self) -> Iterator[None]:
        def counted(write: Any) -> Any:
            def dying(*arguments: Any, **named: Any) -> Any:
                self.left -= 1
                if self.left < 0:  # also the writes of handlers, as the process is dead
                    raise Killed
                return write(*arguments, **named)

            return dying

        names = [(MlflowClient, name) for name in WRITES]
        names += [(Storage, name) for name in ("write", "remove", "rename")]
        with ExitStack() as stack:
            for owner, name in names:
                stack.enter_context(patch.object(owner, name, counted(getattr(owner, name))))
            yield

    def drive(self) -> list[TrialRecord]:
        log_missing(self.execution.state)
        sweep = RunningSweep("sweep", self.trials, self.execution, keep_weights=True)
        with sweep.opened() as unfinished:
            keys = [trial.key for trial in unfinished]
            assert not self.records.keys() & keys
            for number in range(1, EPOCHS + 1):
                for trial in sweep.unfinished(keys):
                    self.train(sweep, trial, number)
            sweep.remove_checkpoints(keys)
            return sweep.records()

    def train(self, sweep: RunningSweep, trial: Trial, number: int) -> None:
        """Train an epoch as a worker does, unless the checkpoint has it, and report it."""
        reached = 0
        with suppress(FileNotFoundError):
            reached = load_checkpoint(sweep.checkpoints, trial.key)["epoch"]
        assert reached >= self.saved.get(trial.key, 0)
        if reached < number:
            state = {"epoch": number, "best_parameters": {"epoch": torch.tensor(number)}}
            save_checkpoint(sweep.checkpoints, trial.key, state)
            self.saved[trial.key] = number
        record, finished = result(trial, number), number == EPOCHS
        if scores := sweep.rung_scores:
            scores.record(trial.key, record.history, finished=finished)
            finished |= scores.last_epoch(trial.config.model, [trial.key]) == number
        sweep.tracker.update(trial, TrialState(history=record.history))
        assert not finished or sweep.record(record)

    @invariant()
    def what_has_finished_stays_so(self) -> None:
        if not hasattr(self, "trials"):
            return
        store = TrialStore(self.execution.trials)
        for trial in self.trials:
            found = store.load(trial.key, needs_weights=True)
            assert found == self.records.get(trial.key, found)
            self.records |= {trial.key: found} if found else {}

    def teardown(self) -> None:
        if not hasattr(self, "trials"):
            return
        records, state = self.drive(), self.execution.state
        assert [record.key for record in records] == [trial.key for trial in self.trials]
        assert max(len(record.history) for record in records) == EPOCHS
        nested = children(state)
        assert {run.info.status for run in [*nested.values(), *parents(state)]} == {"FINISHED"}
        for record in records:
            epochs = range(1, len(record.history) + 1)
            assert set(steps(state, nested[record.key])) == {*epochs}
        left = [*(state / "unlogged").glob("*"), *(state / "ray" / "checkpoints").rglob("*.*")]
        assert not left and len(parents(state)) == 1


def test_nothing_is_lost_trained_twice_or_left_running(state: Path, tmp_path: Path) -> None:
    state.rename(tmp_path / "template")
    machine = type("Sweep", (Driver,), {"folder": tmp_path})
    # without shrinking: a failure of one process depends on those before
    phases = {"phases": [Phase.generate], "deadline": None, "derandomize": True}
    rules = settings(max_examples=8, stateful_step_count=5, **phases)
    run_state_machine_as_test(machine, settings=rules)
