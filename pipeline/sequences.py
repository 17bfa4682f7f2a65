"""Stage `sequences`: Adaptive Computation Time around recurrent cells, on Graves' (2016) tasks.

Data are drawn during training, so there is no test split: dev is a fixed set of fresh sequences,
and figures by difficulty are of another one. Characters are drawn from a text, dev from the part
that is held out; their figures are by kind of byte, and of a passage byte by byte.
"""

from pipeline.runtime.idle import end_if_idle

if __name__ == "__main__":
    end_if_idle("sequences.tasks")

from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from actmodels.errors import DataError
from actmodels.registry import HALTINGS
from actmodels.seeding import generator
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.characters import Characters, read_bytes
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.sequences.pondering import ByteFigures, by_difficulty, by_kind, read
from actmodels.sequences.task import Task
from actmodels.sequences.training import build_task, evaluate
from pipeline.datasets.stored_text import StoredText, stored_text
from pipeline.parameters.load import load_params
from pipeline.parameters.study_sections import Sequences
from pipeline.parameters.trials import sequence_trials
from pipeline.runtime.results import TableRow
from pipeline.runtime.stage import run_stage
from pipeline.statistics.aggregate import summarise
from pipeline.studies.study import Run, history_rows, result_row, train, write_study
from pipeline.trials.execution import execution_settings
from tune.store import TrialStore

CHARACTERS = "characters"  # the task that needs a text
NO_DATA = "drawn"  # the data's digest of other tasks: settings alone decide what is drawn
SequenceRun = Run[SequenceTrialConfig]


def plan(study: Sequences) -> list[SequenceRun]:
    """Return every combination of a mechanism's values with every seed, for all tasks."""
    return [
        Run({"task": task, "run": run_name(kind, changes)}, config)
        for task, tasks in study.tasks.items()
        for kind in tasks.mechanisms
        for changes, config in sequence_trials(task, kind, tasks, study.seeds)
    ]


def run_name(kind: str, changes: Mapping[str, Any]) -> str:
    """Return `DACT, ponder weight 0.01`, or `fixed steps 3` where the name has the setting."""
    if kind == "none":
        return "without ACT"
    title = HALTINGS[kind].title
    each = [(name.replace("_", " "), f"{value:g}") for name, value in changes.items()]
    if len(each) == 1 and title.endswith(each[0][0]):
        return f"{title} {each[0][1]}"
    return ", ".join([title, *(" ".join(one) for one in each)])


def digest_of(config: SequenceTrialConfig, stored: StoredText | None) -> str:
    """Return the digest of the data that a trial draws from."""
    return stored.sha256 if stored and config.task_name == CHARACTERS else NO_DATA


def task_of(config: SequenceTrialConfig, study: Sequences, text: Tensor | None) -> Task:
    """Build the task of a trial.

    Args:
        text: the bytes of the study's text, for characters.

    Raises:
        DataError: the text is too short for it, or the part held out for the passage.
    """
    task = build_task(config.task, text, f"sequences.text, {study.text}")
    least = study.read_from + study.read_bytes + 1  # the last is only predicted
    if isinstance(task, Characters) and len(task.held_out) < least:
        raise DataError(
            f"sequences.text, {study.text}: {len(task.held_out):,} bytes are held out, but "
            f"read_from, read_bytes and the byte after them need {least:,}; hold out more or "
            "read less"
        )
    return task


def measured(
    run: SequenceRun, weights: Mapping[str, Any], study: Sequences, text: Tensor | None
) -> dict[str, list[TableRow]]:
    """Return rows of a trained network by table: by difficulty, or by byte.

    Sequences and windows are the same for all runs of a task; the passage is read by what halts,
    with the first seed.
    """
    config, task = run.config, task_of(run.config, study, text)
    model = ActRnn(task.inputs, task.outputs.size, config.network, config.halting)
    model.load_state_dict(weights)
    draws = generator("drawn sequences", study.drawn_seed)
    batch_size = config.training.batch_size
    if not isinstance(task, Characters):
        found = evaluate(model, task.outputs, task.sample(study.drawn, draws), batch_size)
        return {"difficulty": [run.seeded | vars(row) for row in by_difficulty(found, task)]}

    def row(figures: ByteFigures, **more: int) -> TableRow:
        return run.seeded | vars(figures) | {"ponder": figures.ponder_cost} | more

    kinds = by_kind(model, task, study.drawn, draws, batch_size)
    tables = {"bytes": [row(one, bytes=one.count) for one in kinds]}
    if config.halting is not None and config.seed == study.seeds[0]:
        end = study.read_from + study.read_bytes + 1
        passage = bytes(task.held_out[study.read_from : end].tolist())
        along = enumerate(read(model, task, passage), start=1)
        tables["reading"] = [row(one, position=position) for position, one in along]
    return tables


def main() -> None:
    """Write artifacts/sequences/."""
    params = load_params()
    study, execution, runs = params.sequences, execution_settings(params), plan(params.sequences)
    stored, text = None, None
    if CHARACTERS in study.tasks:
        stored = stored_text(str(study.text))
        execution, text = replace(execution, text=stored.path), read_bytes(stored.path)
    for run in runs:
        task_of(run.config, study, text)  # a text too short is reported before training
    trained = train("sequences", runs, execution, lambda config: digest_of(config, stored))
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    store, results = TrialStore(execution.trials), list[TableRow]()
    tables: dict[str, list[TableRow]] = {"difficulty": [], "reading": [], "bytes": []}
    for run, record in tqdm(trained, "sequences", unit="model"):
        weight = getattr(run.config.halting, "ponder_weight", None)
        asked = {"halting": run.config.halting_name, "ponder_weight": weight}
        results.append(result_row(run, record) | asked)
        weights = torch.load(BytesIO(store.weights(record.key)), weights_only=True)
        for name, rows in measured(run, weights, study, text).items():
            tables[name] += rows
    named = [row | {"run": f"{row['run']}, seed {row['seed']}"} for row in results]
    summary = summarise(named, "task", "run", "dev_error", "dev_mean_steps")
    history = history_rows(trained)
    write_study("sequences", trained, summary, results=results, history=history, **tables)


if __name__ == "__main__":
    run_stage(main)
