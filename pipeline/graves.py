"""Stage `graves`: Adaptive Computation Time around recurrent cells, on Graves' (2016) tasks.

Data are drawn as training goes, so there is no test split: dev is a fixed set of fresh sequences,
and figures by difficulty are of another one, drawn for them alone. Characters are drawn from a
text, dev from the part of it that is held out; they have figures by kind of byte instead, and a
passage that is told byte by byte.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from tqdm import tqdm

from actmodels.records import TrialRecord
from actmodels.rows.columns import columns
from actmodels.rows.sequences import SequenceEpoch, SequenceResult, SequenceTime
from actmodels.sequences.config import SequenceTrialConfig
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.running.results import write_summary, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.sources.stored_text import stored_text
from pipeline.studies.along_text import Reading
from pipeline.studies.sequence_rows import (
    LOOKED_AT,
    history_rows,
    look,
    result_row,
)
from pipeline.studies.sequence_runs import CHARACTERS, Run, plan
from pipeline.studies.study import spent, summarise
from pipeline.trained.trials import execution_settings, keyed_on
from tune.execution import Execution
from tune.grid import Trial
from tune.store import TrialStore
from tune.sweep import run_trials

# In place of the data's digest: a trial's settings tell all that it draws. Not so of characters,
# which have their text's.
NO_DATA = "drawn"


def train(runs: list[Run], execution: Execution, reading: Reading | None) -> list[TrialRecord]:
    """Train what is not trained yet.

    Raises:
        DataError: the text is too short for what is asked of it.
    """
    trials = keyed([run for run in runs if not run.reads], NO_DATA, execution)
    if reading is not None:
        readers = [run for run in runs if run.reads]
        for run in readers:
            reading.task(run.config)  # before anything is trained
        trials |= keyed(readers, reading.text.sha256, execution)
        execution = replace(execution, text=reading.text.path)
    ordered = [trials[run.config] for run in runs]
    return run_trials("graves", ordered, execution, keep_weights=True)


def keyed(
    runs: Sequence[Run], data_digest: str, execution: Execution
) -> dict[SequenceTrialConfig, Trial]:
    """The trials of runs on the same data."""
    configs = [run.config for run in runs]
    trials = keyed_on(data_digest, configs, execution)
    return dict(zip(configs, trials, strict=True))


def reading_of(params: Params) -> Reading | None:
    """The text that characters are drawn from, where they are asked for."""
    study = params.graves
    if CHARACTERS not in study.tasks:
        return None
    assert study.text is not None  # a rule of params.yaml
    return Reading(stored_text(study.text), study)


def main() -> None:
    """Write artefacts/graves/."""
    params = load_params()
    folder = artefacts("graves")
    runs, reading = plan(params), reading_of(params)
    execution = execution_settings(params)
    records = train(runs, execution, reading) if runs else []
    pairs = list(zip(runs, records, strict=True))
    rows = [result_row(run, record) for run, record in pairs]
    write_table(folder / "results.csv", rows, columns(SequenceResult))
    write_table(
        folder / "history.csv",
        [row for p in pairs for row in history_rows(*p)],
        columns(SequenceEpoch),
    )
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    store = TrialStore(execution.state / "trials")
    bar = tqdm(pairs, "graves", unit="model", disable=not pairs)
    weighted = (
        (run, torch.load(store.weights_path(record.key), weights_only=True)) for run, record in bar
    )
    for name, rows_of in look(weighted, params.graves, reading).items():
        write_table(folder / f"{name}.csv", rows_of, columns(LOOKED_AT[name]))
    timings = [run.seeded | spent(record) for run, record in pairs]
    write_table(folder / "timings.csv", timings, columns(SequenceTime))
    named = [row | {"run": f"{row['run']}, seed {row['seed']}"} for row in rows]
    write_summary(
        folder / "summary.json", summarise(named, "task", "run", ("dev_error", "dev_mean_steps"))
    )


if __name__ == "__main__":
    run_stage(main)
