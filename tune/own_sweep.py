"""A sweep of the user's own training, from Python."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from filelock import FileLock, Timeout

from actmodels.errors import ConfigError, SweepError, shown
from actmodels.ranges import Range
from actmodels.records import TrialRecord
from tune.own_training import OwnTrialConfig
from tune.sweep import run_trials
from tune.trials.early_stopping import SuccessiveHalving
from tune.trials.execution import Description, Execution
from tune.trials.grid import Trial, with_keys
from tune.trials.search import SEARCHES, OptunaSearch
from tune.trials.store import TrialStore

if TYPE_CHECKING:
    import pandas as pd

SCALARS = (str, int, float, bool)
RESERVED = ("model", "seed", "max_epochs", "patience")  # names of columns
STAGE, EXPERIMENT_NAME = "sweep", "MLFLOW_EXPERIMENT_NAME"


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A sweep of a training over settings and seeds; each trial is run once, also after crashes.

    `training(config, device)` returns an object with `run_epoch()`, which trains for an epoch and
    returns its metrics by name, `state_dict()`, of tensors, numbers, lists and dictionaries, and
    `load_state_dict(state)`. It seeds its random numbers from config["seed"] and the epoch, if
    resumed trials shall equal others. An attribute `model` has its parameters counted. Its code
    and that of the modules of its package are part of a trial's key: a change trains again.

    Args:
        name: of the sweep, and of its experiment in MLflow.
        training: a class or function at the top of a module, or of the script that is run.
        settings: by name, a value, a list of values, or a Range.
        metric: name of the metric that is compared; mode: whether more of it is better, or less.
        patience: a trial ends after these epochs without a better one; 0: never.
        search: with "random" and "optuna", `trials` points are trained; None: all.
        folder: of checkpoints, records and MLflow's store; by default of the sweep's name.
        data: version or digest of the data, part of the keys.
        cpus_per_trial, gpus_per_trial, workers, dashboard: as in the section cluster.
    """

    name: str
    training: Callable[[dict[str, Any], str], Any]
    settings: Mapping[str, Any]
    max_epochs: int
    seeds: Sequence[int] = (1,)
    metric: str = "dev_accuracy"
    mode: Literal["max", "min"] = "max"
    patience: int = 0
    search: Literal["grid", "random", "optuna"] = "grid"
    trials: int | None = None
    search_seed: int = 1
    early_stopping: SuccessiveHalving | None = None
    folder: str | Path = ""
    data: str = ""
    notes: str = ""
    tags: Mapping[str, str] | None = None
    cpus_per_trial: float = 1
    gpus_per_trial: float = 0
    workers: int | None = None
    max_failures: int = 3
    dashboard: bool = False

    def run(self) -> list[TrialRecord]:
        """Train the trials without a record; return all records in the order of the grid.

        Raises:
            ConfigError: lists what is wrong with the arguments.
            SweepError: trials failed, or another process runs this sweep.
        """
        trials, execution = self.planned(), self._execution
        execution.state.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(execution.state / "run.lock", timeout=0), _experiment(self.name):
                return run_trials(STAGE, trials, execution, keep_weights=True)
        except Timeout:
            problem = f"another process runs the sweep of {execution.state}; wait for its end"
            raise SweepError(problem) from None

    def planned(self) -> list[Trial]:
        """Return the trials; of a search that proposes them, one for each seed."""
        self._check()
        axes = {name: value for name, value in self.settings.items() if _is_axis(value)}
        search = SEARCHES[self.search](self.trials, self.search_seed)
        searches = {}
        if isinstance(search, OptunaSearch):
            searches[self.name] = replace(search, axes=axes)
        configs = [
            OwnTrialConfig(
                model=self.name,
                training=_reference(self.training),
                settings=tuple(sorted((dict(self.settings) | point).items())),
                metric=self.metric,
                mode=self.mode,
                seed=seed,
                max_epochs=self.max_epochs,
                patience=self.patience,
            )
            for point in search.draw(self.name, axes)
            for seed in self.seeds
        ]
        return with_keys(configs, self.data, self._execution, self.early_stopping, searches)

    def frame(self) -> "pd.DataFrame":
        """Return a row for each trial of the last run: settings and metrics of the best epoch."""
        import pandas as pd

        return pd.DataFrame([self._row(record) for record in self.records()])

    def records(self) -> list[TrialRecord]:
        """Return the records of finished trials, without training."""
        from tune.trials.proposed_trials import ProposedTrials

        store = TrialStore(self._execution.trials)

        def load(trial: Trial) -> TrialRecord | None:
            return store.load(trial.key, needs_weights=False)

        proposed = ProposedTrials(self.planned(), store.storage, load)
        return [record for record in map(load, proposed.trials) if record]

    def state(self, record: TrialRecord) -> Any:
        """Return the state of a trial's training at its best epoch."""
        import torch

        weights = TrialStore(self._execution.trials).weights(record.key)
        return torch.load(BytesIO(weights), map_location="cpu", weights_only=True)

    def _row(self, record: TrialRecord) -> dict[str, Any]:
        best: Any = record.best
        values = dict(record.config["settings"])
        settings = {name: values[name] for name in self.settings}  # in the user's order
        ends = {"epochs": len(record.history), "best_epoch": best.epoch}
        ends |= {"diverged": record.diverged}
        key = {"key": record.key, **settings, "seed": record.config["seed"]}
        return key | ends | best.metrics

    @property
    def _execution(self) -> Execution:
        state = Path(self.folder or self.name).resolve()
        return Execution(
            data_folder=state,
            state=state,
            storage=state / "ray",
            cpus_per_trial=self.cpus_per_trial,
            gpus_per_trial=self.gpus_per_trial,
            max_failures=self.max_failures,
            max_concurrent=self.workers,
            dashboard=self.dashboard,
            about=Description(self.name, self.notes, self.tags or {}),
        )

    def _check(self) -> None:
        problems = [f"setting {n} is the name of a column" for n in RESERVED if n in self.settings]
        for name, value in self.settings.items():
            values: Iterable[Any] = value if isinstance(value, list | tuple) else [value]
            if isinstance(value, Range):
                problems += [f"setting {name}: needs {rule}" for rule in value.problems()]
            elif not list(values) or not all(isinstance(each, SCALARS) for each in values):
                expected = "a string, number or truth value, a list of these, or a Range"
                problems.append(f"setting {name} is {shown(value)}; must be {expected}")
        if self.search == "grid" and any(isinstance(v, Range) for v in self.settings.values()):
            problems.append("a Range has no grid; set search to random or optuna, and trials")
        if len(set(self.seeds)) != len(self.seeds) or not self.seeds:
            problems.append(f"seeds is {shown(self.seeds)}; must be different numbers")
        choices = {"mode": ("max", "min"), "search": tuple(SEARCHES)}
        problems += [
            f"{name} is {shown(getattr(self, name))}; must be one of {', '.join(known)}"
            for name, known in choices.items()
            if getattr(self, name) not in known
        ]
        if problems:
            raise ConfigError(f"sweep {self.name}", problems)


@contextmanager
def _experiment(name: str) -> Iterator[None]:
    """Set the name of MLflow's experiment, unless the user has set one."""
    if EXPERIMENT_NAME in os.environ:
        yield
        return
    os.environ[EXPERIMENT_NAME] = name
    try:
        yield
    finally:
        del os.environ[EXPERIMENT_NAME]


def _is_axis(value: Any) -> bool:
    return isinstance(value, list | tuple | Range)


def _reference(training: Callable[..., Any]) -> str:
    """Return module:name of a class or function that a worker can import."""
    module, name = training.__module__, getattr(training, "__qualname__", "<object>")
    if module == "__main__":
        main = sys.modules["__main__"]
        path, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
        module = spec.name if spec else Path(path).stem if path else ""  # spec: of python -m
    if not module or "<" in name or "." in name:
        expected = "must be a class or function at the top of a module or of a script"
        raise ConfigError("sweep", [f"training is {shown(training)}; {expected}"])
    return f"{module}:{name}"
