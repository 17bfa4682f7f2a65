"""Study `sequences`: Adaptive Computation Time in recurrent networks, on Graves' (2016) tasks.

Sequences are drawn during training, so there is no test split: dev is a fixed sample, and metrics
by difficulty are of another one. Characters are drawn from a text, dev from its held-out part;
their metrics are by type of byte, and for each byte of a passage.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from actmodels.errors import DataError
from actmodels.files import replacing
from actmodels.models.act_rnn import ActRnn
from actmodels.registry import HALTINGS
from actmodels.seeding import generator
from pipeline.datasets.download import fetch_text
from pipeline.parameters.load import load_params
from pipeline.parameters.section import TextSource
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import TableRow
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import summarize
from pipeline.trials.execution import execution_settings
from pipeline.trials.study import Run, history_rows, result_row, train, with_weights, write_study
from studies.sequences.config import SequenceTrialConfig
from studies.sequences.drawn_tasks import Characters, read_bytes
from studies.sequences.pondering import along, by_byte_class, by_difficulty, read
from studies.sequences.section import Study, sequence_trials
from studies.sequences.tables import COLUMNS
from studies.sequences.task import Task
from studies.sequences.training import build_task, evaluate

TEXT = "sequences.text"  # in messages
CHARACTERS = "characters"  # the task that needs a text
NO_DATA = "drawn"  # the data digest of the other tasks, whose data depend on settings alone
SequenceRun = Run[SequenceTrialConfig]


def plan(study: Study) -> list[SequenceRun]:
    """Return a run for each task, halting mechanism, grid point and seed."""
    return [
        Run({"task": task, "run": run_name(mechanism, point)}, config)
        for task, settings in study.tasks.items()
        for mechanism in settings.mechanisms
        for point, config in sequence_trials(task, mechanism, settings, study.seeds)
    ]


def run_name(mechanism: str, point: Mapping[str, Any]) -> str:
    """Return a name such as `DACT, ponder weight 0.01`, or `fixed steps 3` instead of repeating."""
    if mechanism == "none":
        return "without ACT"
    title = HALTINGS[mechanism].title
    settings = [f"{name.replace('_', ' ')} {value:g}" for name, value in point.items()]
    if len(point) == 1 and title.endswith(next(iter(point)).replace("_", " ")):
        return f"{title} {next(iter(point.values())):g}"
    return ", ".join([title, *settings])


def task_of(config: SequenceTrialConfig, study: Study, text: Tensor | None) -> Task:
    """Build the task of a trial.

    Args:
        text: the bytes of the study's text, for characters.

    Raises:
        DataError: the text, or its held-out part, is too short.
    """
    task = build_task(config.task, text, TEXT)
    needed = study.read_bytes + 1  # the last byte is only predicted
    if isinstance(task, Characters) and len(task.held_out) < needed:
        raise DataError(
            f"{TEXT}: {len(task.held_out):,} bytes are held out, but "
            f"read_bytes and the byte after them need {needed:,}; hold out more or read less"
        )
    return task


def write_text(source: TextSource) -> tuple[Path, str]:
    """Write the text of characters; return its path and SHA-256."""
    path, text = artifacts("studies", "sequences", "text.txt"), fetch_text(source, TEXT)
    with replacing(path) as temporary:
        temporary.write_bytes(text)
    return path, sha256(text).hexdigest()


def metric_rows(
    run: SequenceRun, weights: Mapping[str, Any], study: Study, text: Tensor | None
) -> dict[str, list[TableRow]]:
    """Return the rows of a trained network for each table: by difficulty, or by type of byte.

    All runs of a task are measured on the same sequences. The passage is read only by networks that
    halt, with the first seed.
    """
    config, task = run.config, task_of(run.config, study, text)
    model = ActRnn(task.inputs, task.outputs.size, config.network, config.halting)
    model.load_state_dict(weights)
    draws = generator("drawn sequences", study.drawn_seed)
    batch_size = config.training.batch_size
    if not isinstance(task, Characters):
        result = evaluate(model, task.outputs, task.sample(study.drawn, draws), batch_size)
        drawn = {"difficulty": by_difficulty(result, task)}
        if config.seed == study.seeds[0] and (inputs := along(result, task)):
            drawn["along"] = inputs
        return {name: [run.seeded | row for row in rows] for name, rows in drawn.items()}

    def row(metrics: TableRow, **more: int) -> TableRow:
        return run.seeded | metrics | {"ponder": metrics["ponder_cost"]} | more

    classes = by_byte_class(model, task, study.drawn, draws, batch_size)
    tables = {"bytes": [row(one, bytes=one["count"]) for one in classes]}
    if config.halting is not None and config.seed == study.seeds[0]:
        passage = bytes(task.held_out[: study.read_bytes + 1].tolist())
        per_byte = enumerate(read(model, task, passage), start=1)
        tables["reading"] = [row(metrics, position=position) for position, metrics in per_byte]
    return tables


def main() -> None:
    """Write artifacts/studies/sequences/."""
    params = load_params()
    study = study_section(params, Study)
    runs = plan(study)
    data: dict[str, Any] = {
        "data_folder": artifacts("studies", "sequences"),
        "dataset": "sequences",
    }
    digest, text = NO_DATA, None
    if CHARACTERS in study.tasks:
        assert study.text is not None  # a rule of params.yaml
        data["text"], digest = write_text(study.text)
        text = read_bytes(data["text"])
    execution = execution_settings(params, **data)
    for run in runs:
        task_of(run.config, study, text)  # report a text that is too short before training
    digests = [digest if run.config.task_name == CHARACTERS else NO_DATA for run in runs]
    trained = train("sequences", runs, execution, digests)
    torch.set_num_threads(1)  # bit-identical results on any number of cores
    tables: dict[str, list[TableRow]] = {"difficulty": [], "along": [], "reading": [], "bytes": []}
    for run, _, stored_weights in with_weights("sequences", trained, execution):
        weights = torch.load(stored_weights, weights_only=True)
        for name, rows in metric_rows(run, weights, study, text).items():
            tables[name] += rows
    tables["results"] = [result_row(run, record) for run, record in trained]
    tables["history"] = history_rows(trained)
    named = [row | {"run": f"{row['run']}, seed {row['seed']}"} for row in tables["results"]]
    summary = summarize(named, "task", "run", "dev_error", "dev_mean_steps")
    write_study("sequences", trained, summary, COLUMNS, **tables)


if __name__ == "__main__":
    run_stage(main)
