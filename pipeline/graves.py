"""Stage `graves`: Adaptive Computation Time around recurrent cells, on Graves' (2016) tasks.

Data are drawn as training goes, so there is no test split: dev is a fixed set of fresh sequences,
and figures by difficulty are of another one, drawn for them alone. Characters are drawn from a
text, dev from the part of it that is held out; they have figures by kind of byte instead, and a
passage that is told byte by byte.
"""

from dataclasses import replace
from io import BytesIO

import torch
from tqdm import tqdm

from actmodels.sequences.config import SequenceTrialConfig
from pipeline.measures.over_seeds import summarise
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.running.results import write_json, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.sources.stored_text import stored_text
from pipeline.studies.sequences import (
    CHARACTERS,
    Reading,
    SequenceRun,
    look,
    plan,
    reads,
    sequence_result,
)
from pipeline.studies.study import Trained, history_rows, timing_rows, train
from pipeline.trained.trials import execution_settings
from tune.execution import Execution
from tune.store import TrialStore

# In place of the data's digest: a trial's settings tell all that it draws. Not so of characters,
# which have their text's.
NO_DATA = "drawn"


def trained_runs(
    runs: list[SequenceRun], execution: Execution, reading: Reading | None
) -> list[Trained[SequenceTrialConfig]]:
    """Train what is not trained yet.

    Raises:
        DataError: the text is too short for what is asked of it.
    """
    if reading is None:
        return train("graves", runs, execution, lambda _: NO_DATA)
    for run in runs:
        if reads(run.config):
            reading.task(run.config)  # before anything is trained
    execution, text = replace(execution, text=reading.text.path), reading.text.sha256
    return train("graves", runs, execution, lambda config: text if reads(config) else NO_DATA)


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
    execution, reading = execution_settings(params), reading_of(params)
    trained = trained_runs(plan(params), execution, reading)
    rows = [sequence_result(run, record) for run, record in trained]
    write_table(folder / "results.csv", rows)
    write_table(folder / "history.csv", history_rows(trained))
    write_table(folder / "timings.csv", timing_rows(trained))
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    store = TrialStore(execution.trials)
    bar = tqdm(trained, "graves", unit="model", disable=not trained)
    weighted = (
        (run, torch.load(BytesIO(store.weights(record.key)), weights_only=True))
        for run, record in bar
    )
    for name, rows_of in look(weighted, params.graves, reading).items():
        write_table(folder / f"{name}.csv", rows_of)
    named = [row | {"run": f"{row['run']}, seed {row['seed']}"} for row in rows]
    write_json(
        folder / "summary.json", summarise(named, "task", "run", ("dev_error", "dev_mean_steps"))
    )


if __name__ == "__main__":
    run_stage(main)
