"""Train the runs of a study, and write its tables.

Rows may have more keys than the table has columns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from actmodels.records import TrialRecord
from actmodels.trial_config import BaseTrialConfig
from pipeline.runtime.results import TableRow, write_json, write_tables
from pipeline.runtime.stage import artifacts
from tune.execution import Execution
from tune.grid import Trial, with_keys

Config = TypeVar("Config", bound=BaseTrialConfig)


@dataclass(frozen=True)
class Run(Generic[Config]):
    """One training run of a study.

    labels: the columns that identify it, except the seed: its group, then its name in the group.
    """

    labels: TableRow
    config: Config

    @property
    def seeded(self) -> TableRow:
        """The first columns of each table with a row per run."""
        return self.labels | {"seed": self.config.seed}


Trained = tuple[Run[Config], TrialRecord]


def train(
    stage: str, runs: Sequence[Run[Config]], execution: Execution, digests: str | Sequence[str]
) -> list[Trained[Config]]:
    """Train each distinct configuration once; reuse finished trials.

    Args:
        digests: of the training data; one for all runs, or one for each.
    """
    if not runs:
        return []
    from tune.sweep import run_trials  # imports Ray and MLflow

    digests = [digests] * len(runs) if isinstance(digests, str) else digests
    configs = {run.config: digest for run, digest in zip(runs, digests, strict=True)}
    trials: dict[Config, Trial] = {}
    for digest in dict.fromkeys(digests):  # with_keys reads the code once per call
        group = [config for config in configs if configs[config] == digest]
        trials |= zip(group, with_keys(group, digest, execution), strict=True)
    records = run_trials(stage, [trials[c] for c in configs], execution, keep_weights=True)
    by_config = dict(zip(configs, records, strict=True))
    return [(run, by_config[run.config]) for run in runs]


def result_row(run: Run[Any], record: TrialRecord) -> TableRow:
    """Return the dev metrics of a run's best epoch."""
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


def history_rows(trained: Iterable[Trained[Any]]) -> list[TableRow]:
    """Return the metrics of each epoch of each run."""
    return [
        run.seeded | epoch.result() | {"dev_error": epoch.dev_error}
        for run, record in trained
        for epoch in record.history
    ]


def write_study(
    stage: str,
    trained: Iterable[Trained[Any]],
    summary: TableRow,
    **tables: Sequence[TableRow],
) -> None:
    """Write the tables, summary.json, and timings.csv (seconds of training of each run).

    Timings have their own file, as all other results are reproducible.
    """
    timings = []
    for run, record in trained:
        seconds = [epoch.seconds for epoch in record.history if epoch.seconds is not None]
        timings.append(run.seeded | {"epochs": len(seconds), "seconds": sum(seconds)})
    write_tables(stage, **tables, timings=timings)
    write_json(artifacts(stage, "summary.json"), summary)
