"""The runs of a study: training, evaluation and tables.

Rows may have more keys than the table has columns.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Generic, TypeVar

import torch
from tqdm import tqdm

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import WordVectors
from actmodels.records import TrialRecord
from actmodels.training import Evaluation, evaluate
from actmodels.trial_config import BaseTrialConfig, TrialConfig
from pipeline.runtime.results import TableRow, write_json, write_table
from pipeline.runtime.stage import artifacts
from pipeline.trials.models import load_model
from pipeline.trials.records import trial_row
from tune.trials.execution import Execution
from tune.trials.grid import Trial, with_keys
from tune.trials.store import TrialStore

Config = TypeVar("Config", bound=BaseTrialConfig)
Pairs = TypeVar("Pairs", bound=TrialConfig)


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
    study: str, runs: Sequence[Run[Config]], execution: Execution, digests: str | Sequence[str]
) -> list[Trained[Config]]:
    """Train each distinct configuration once; reuse finished trials.

    Args:
        digests: of the training data; one for all runs, or one for each.
    """
    from tune.sweep import run_trials  # imports Ray and MLflow

    digests = [digests] * len(runs) if isinstance(digests, str) else digests
    configs = {run.config: digest for run, digest in zip(runs, digests, strict=True)}
    trials: dict[Config, Trial] = {}
    for digest in dict.fromkeys(digests):  # with_keys reads the code once per call
        group = [config for config in configs if configs[config] == digest]
        trials |= zip(group, with_keys(group, digest, execution), strict=True)
    records = run_trials(study, [trials[c] for c in configs], execution, keep_weights=True)
    by_config = dict(zip(configs, records, strict=True))
    return [(run, by_config[run.config]) for run in runs]


def with_weights(
    study: str, trained: Sequence[Trained[Config]], execution: Execution
) -> Iterator[tuple[Run[Config], TrialRecord, BytesIO]]:
    """Yield each run with its record and the weights of its best epoch."""
    store = TrialStore(execution.trials)
    for run, record in tqdm(trained, study, unit="model"):
        yield run, record, BytesIO(store.weights(record.key))


def evaluate_runs(
    study: str, trained: Sequence[Trained[Pairs]], pairs: PairTensors, execution: Execution
) -> Iterator[tuple[Run[Pairs], TrialRecord, Evaluation]]:
    """Evaluate each run of a study on a split."""
    torch.set_num_threads(1)  # bit-identical results on any number of cores
    words = WordVectors.load(execution.data_folder / "embedding.pt")
    for run, record, weights in with_weights(study, trained, execution):
        model = load_model(run.config, words, len(pairs.classes), weights, f"study@{study}")
        yield run, record, evaluate(model, pairs, run.config.input)


def result_row(run: Run[Any], record: TrialRecord) -> TableRow:
    """Return the settings of a run, and the metrics of its best epoch."""
    return trial_row(run.config, record) | run.labels | {"dev_error": record.best.dev_error}


def history_rows(trained: Iterable[Trained[Any]]) -> list[TableRow]:
    """Return the metrics of each epoch of each run."""
    return [
        run.seeded | epoch.result() | {"dev_error": epoch.dev_error}
        for run, record in trained
        for epoch in record.history
    ]


def write_study(
    study: str,
    trained: Iterable[Trained[Any]],
    summary: TableRow,
    columns: Mapping[str, str],
    **tables: Sequence[TableRow],
) -> None:
    """Write the tables, summary.json, and timings.csv (seconds of training of each run).

    Timings have their own file, as all other results are reproducible.

    Args:
        columns: of each file, names between blanks.
        tables: rows by the name of the table.
    """
    timings = []
    for run, record in trained:
        seconds = [epoch.seconds for epoch in record.history if epoch.seconds is not None]
        timings.append(run.seeded | {"epochs": len(seconds), "seconds": sum(seconds)})
    for name, rows in (tables | {"timings": timings}).items():
        write_table(artifacts("studies", study, f"{name}.csv"), rows, columns[f"{name}.csv"])
    write_json(artifacts("studies", study, "summary.json"), summary)
