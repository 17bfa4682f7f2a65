"""The rows of stage `graves`: of trainings, and of what the trained networks do."""

from collections.abc import Iterable
from typing import Any

from actmodels.draws import generator
from actmodels.records import TrialRecord
from actmodels.rows.columns import columns
from actmodels.rows.sequences import AtDifficulty, ByteRead, BytesOfKind
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.build import build_task
from actmodels.sequences.pondering import by_difficulty
from actmodels.sequences.scoring import evaluate
from actmodels.settings import ActConfig
from pipeline.measures.over_seeds import Row
from pipeline.parameters.study_sections import Graves
from pipeline.studies.along_text import Reading
from pipeline.studies.sequence_runs import SequenceRun, reads
from pipeline.studies.study import result_row

LOOKED_AT = {"difficulty": AtDifficulty, "reading": ByteRead, "bytes": BytesOfKind}  # file: row


def sequence_result(run: SequenceRun, record: TrialRecord) -> Row:
    """One line of results.csv: figures of the best dev epoch."""
    halting = run.config.halting
    weight = halting.ponder_weight if isinstance(halting, ActConfig) else None
    asked = {"halting": run.config.halting_name, "ponder_weight": weight}
    return result_row(run, record) | asked


def difficulty_rows(run: SequenceRun, weights: dict[str, Any], drawn: int, seed: int) -> list[Row]:
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
    runs: Iterable[tuple[SequenceRun, dict[str, Any]]], study: Graves, reading: Reading | None
) -> dict[str, list[Row]]:
    """What trained networks do, by the file that tells it: on instances, or on bytes.

    Args:
        runs: with their weights.
    """
    found: dict[str, list[Row]] = {name: [] for name in LOOKED_AT}
    for run, weights in runs:
        if not reads(run.config):
            found["difficulty"] += difficulty_rows(run, weights, study.drawn, study.drawn_seed)
            continue
        assert reading is not None
        kinds = reading.by_kind(run.config, weights)
        found["bytes"] += [run.seeded | row for row in kinds]
        if run.config.halting is not None and run.config.seed == study.seeds[0]:
            along = reading.along(run.config, weights)
            found["reading"] += [run.seeded | row for row in along]
    return found
