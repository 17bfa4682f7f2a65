"""The rows of stage `graves`: of trainings, and of what the trained networks do."""

from collections.abc import Iterable
from typing import Any

from actmodels.draws import generator
from actmodels.records import EpochRecord, TrialRecord
from actmodels.rows.columns import columns
from actmodels.rows.sequences import AtDifficulty, ByteRead, BytesOfKind, SequenceResult
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.build import build_task
from actmodels.sequences.difficulty import by_difficulty
from actmodels.sequences.evaluation import evaluate
from actmodels.settings import ActConfig
from pipeline.parameters.study_sections import Graves
from pipeline.studies.along_text import Reading
from pipeline.studies.sequence_runs import Run
from pipeline.studies.study import trained

LOOKED_AT = {"difficulty": AtDifficulty, "reading": ByteRead, "bytes": BytesOfKind}  # file: row


def error(epoch: EpochRecord) -> float:
    """Share of the dev sequences with any mistake; 0.325 where 1 - 0.675 is not."""
    return round(1 - epoch.dev_accuracy, 12)


def result_row(run: Run, record: TrialRecord) -> dict[str, Any]:
    """One line of results.csv: figures of the best dev epoch."""
    best, halting = record.best, run.config.halting
    return {
        **run.name,
        "halting": run.config.halting_name,
        "ponder_weight": halting.ponder_weight if isinstance(halting, ActConfig) else None,
        "seed": run.config.seed,
        **trained(record),
        "dev_error": error(best),
        **{name: getattr(best, name) for name in columns(SequenceResult, after="dev_error")},
    }


def history_rows(run: Run, record: TrialRecord) -> list[dict[str, Any]]:
    """One line per epoch."""
    return [
        run.seeded
        | {"epoch": e.epoch, "train_loss": e.train_loss, "dev_loss": e.dev_loss}
        | {"dev_error": error(e), "dev_mean_steps": e.dev_mean_steps}
        for e in record.history
    ]


def difficulty_rows(
    run: Run, weights: dict[str, Any], drawn: int, seed: int
) -> list[dict[str, Any]]:
    """Error and steps by difficulty, on sequences that are the same for all runs of a task."""
    config, task = run.config, build_task(run.config.task)
    model = ActRnn(task.inputs, task.outputs.size, config.network, config.halting)
    model.load_state_dict(weights)
    sequences = task.sample(drawn, generator("drawn sequences", seed))
    found = evaluate(model, task.outputs, sequences, config.training.batch_size)
    return [
        run.seeded | {name: getattr(row, name) for name in columns(AtDifficulty, after="seed")}
        for row in by_difficulty(found, task)
    ]


def look(
    runs: Iterable[tuple[Run, dict[str, Any]]], study: Graves, reading: Reading | None
) -> dict[str, list[dict[str, Any]]]:
    """What trained networks do, by the file that tells it: on instances, or on bytes.

    Args:
        runs: with their weights.
    """
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in LOOKED_AT}
    for run, weights in runs:
        if not run.reads:
            found["difficulty"] += difficulty_rows(run, weights, study.drawn, study.drawn_seed)
            continue
        assert reading is not None
        kinds = reading.by_kind(run.config, weights)
        found["bytes"] += [run.seeded | row for row in kinds]
        if run.config.halting is not None and run.config.seed == study.seeds[0]:
            along = reading.along(run.config, weights)
            found["reading"] += [run.seeded | row for row in along]
    return found
