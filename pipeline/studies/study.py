"""What all studies share: runs are trained, and told in tables line by line.

Rows may tell more than a table has columns.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from actmodels.config import AnyTrialConfig
from actmodels.records import TrialRecord
from pipeline.measures.over_seeds import Row
from pipeline.trained.trials import keyed
from tune.execution import Execution

Config = TypeVar("Config", bound=AnyTrialConfig)


@dataclass(frozen=True)
class Run(Generic[Config]):
    """One training of a study.

    labels: the columns that tell it apart, but for its seed: the group, then the run in it.
    """

    labels: Row
    config: Config

    @property
    def seeded(self) -> Row:
        """The first columns of every table with a line per run."""
        return self.labels | {"seed": self.config.seed}


Trained = tuple[Run[Config], TrialRecord]


def train(
    kind: str,
    runs: Sequence[Run[Config]],
    execution: Execution,
    digest: Callable[[Config], str],
) -> list[Trained[Config]]:
    """Train all runs, each configuration once however many runs share it; they keep their order.

    A run that another stage has trained already, such as the winner itself, is reused.

    Args:
        digest: of the data that a configuration is trained on.
    """
    if not runs:
        return []
    from tune.sweep import run_trials  # Ray and MLflow, where there is something to train

    together: dict[str, dict[Config, None]] = {}  # on the same data, whose code is read once
    for run in runs:
        together.setdefault(digest(run.config), {})[run.config] = None
    keys = {
        config: trial
        for data, configs in together.items()
        for config, trial in zip(configs, keyed(data, list(configs), execution), strict=True)
    }
    distinct = {keys[run.config].key: keys[run.config] for run in runs}
    records = run_trials(kind, list(distinct.values()), execution, keep_weights=True)
    by_key = {record.key: record for record in records}
    return [(run, by_key[keys[run.config].key]) for run in runs]


def result_row(run: Run[Any], record: TrialRecord) -> Row:
    """What training says of a run: its dev figures are those of the best epoch."""
    best = record.best
    dev = {name: value for name, value in best.result().items() if name.startswith("dev_")}
    return {
        **run.seeded,
        "key": record.key,
        "parameters": record.parameters,
        "epochs": len(record.history),
        "best_epoch": best.epoch,
        "diverged": record.diverged,
        **dev,
        "dev_error": best.dev_error,
        "ponder_weight_end": best.ponder_weight,
    }


def history_rows(trained: Iterable[Trained[Any]]) -> list[Row]:
    """What each epoch of each run says."""
    return [
        run.seeded | epoch.result() | {"dev_error": epoch.dev_error}
        for run, record in trained
        for epoch in record.history
    ]


def timing_rows(trained: Iterable[Trained[Any]]) -> list[Row]:
    """How many epochs of each run were timed, and their seconds, on whatever machine it was.

    They stand apart from the results, which repeat.
    """
    rows = []
    for run, record in trained:
        seconds = [epoch.seconds for epoch in record.history if epoch.seconds is not None]
        rows.append(run.seeded | {"epochs": len(seconds), "seconds": sum(seconds)})
    return rows
