"""Stage `graves`: its trainings, and what the trained networks do, on instances and on bytes."""

from collections.abc import Iterable, Mapping
from typing import Any

from actmodels.draws import generator
from actmodels.errors import DataError
from actmodels.records import TrialRecord
from actmodels.registry import HALTINGS
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.characters import Characters, read_bytes
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.sequences.pondering import by_difficulty, by_kind, read
from actmodels.sequences.scoring import evaluate
from actmodels.sequences.task import Task
from actmodels.sequences.training import build_task
from pipeline.measures.over_seeds import Row
from pipeline.parameters.schema import Params
from pipeline.parameters.study_sections import Graves, SequenceStudy
from pipeline.parameters.trials import sequence_trials
from pipeline.sources.stored_text import StoredText
from pipeline.studies.study import Run, result_row

CHARACTERS = "characters"  # the task that needs a text
SequenceRun = Run[SequenceTrialConfig]


def reads(config: SequenceTrialConfig) -> bool:
    """A trial is on characters, so it needs a text."""
    return config.task_name == CHARACTERS


def planned(task: str, study: SequenceStudy, seeds: list[int]) -> list[SequenceRun]:
    """Every combination of a kind's values with every seed, in the order of params.yaml."""
    return [
        Run({"task": task, "run": run_name(kind, changes)}, config)
        for kind in study.kinds
        for changes, config in sequence_trials(task, kind, study, seeds)
    ]


def run_name(kind: str, changes: Mapping[str, Any]) -> str:
    """`DACT, ponder weight 0.01`; `fixed steps 3`, where the setting is in the kind's own name."""
    if kind == "none":
        return "without ACT"
    title = HALTINGS[kind].title
    each = [(name.replace("_", " "), f"{value:g}") for name, value in changes.items()]
    if len(each) == 1 and title.endswith(each[0][0]):
        return f"{title} {each[0][1]}"
    return ", ".join([title, *(" ".join(one) for one in each)])


def plan(params: Params) -> list[SequenceRun]:
    """All trainings, in the order of params.yaml."""
    study = params.graves
    return [run for task, tasks in study.tasks.items() for run in planned(task, tasks, study.seeds)]


def network(task: Task, config: SequenceTrialConfig, weights: dict[str, Any]) -> ActRnn:
    """A trained network."""
    model = ActRnn(task.inputs, task.outputs.size, config.network, config.halting)
    model.load_state_dict(weights)
    return model


class Reading:
    """One text, and what of it is read with networks that are trained.

    Args:
        text: that the networks were trained on.
        study: says how much is read, and from where.
    """

    def __init__(self, text: StoredText, study: Graves) -> None:
        self.text, self.study = text, study
        self.bytes = read_bytes(text.path)

    def task(self, config: SequenceTrialConfig) -> Characters:
        """The task of a trial.

        Raises:
            DataError: the text is too short for it, or the part held out for the passage.
        """
        task = build_task(config.task, self.bytes, f"graves.text, {self.text.name}")
        assert isinstance(task, Characters)
        least = self.study.read_from + self.study.read_bytes + 1  # the last is predicted alone
        if len(task.held_out) < least:
            raise DataError(
                f"graves.text, {self.text.name}: {len(task.held_out):,} bytes are held out, but "
                f"read_from, read_bytes and the byte after them need {least:,}; hold out more or "
                "read less"
            )
        return task

    def passage(self, config: SequenceTrialConfig) -> bytes:
        """What is read byte by byte, and the byte after it."""
        start = self.study.read_from
        return bytes(self.task(config).held_out[start : start + self.study.read_bytes + 1].tolist())

    def along(self, config: SequenceTrialConfig, weights: dict[str, Any]) -> list[dict[str, Any]]:
        """A line for each byte of the passage, read from a state of zeros."""
        task = self.task(config)
        found = read(network(task, config, weights), task, self.passage(config))
        return [
            {
                **{"position": position, "byte": one.byte, "steps": one.steps},
                **{"ponder": one.ponder_cost, "loss": one.loss, "entropy": one.entropy},
            }
            for position, one in enumerate(found, start=1)
        ]

    def by_kind(self, config: SequenceTrialConfig, weights: dict[str, Any]) -> list[dict[str, Any]]:
        """A line for each kind of byte, of windows that are the same for all runs."""
        task = self.task(config)
        found = by_kind(
            network(task, config, weights),
            task,
            self.study.drawn,
            generator("drawn sequences", self.study.drawn_seed),
            config.training.batch_size,
        )
        return [
            {
                **{"kind": one.kind, "bytes": one.count, "steps": one.steps},
                **{"ponder": one.ponder_cost, "loss": one.loss, "entropy": one.entropy},
            }
            for one in found
        ]


def sequence_result(run: SequenceRun, record: TrialRecord) -> Row:
    """One line of results.csv: figures of the best dev epoch."""
    halting = run.config.halting
    weight = getattr(halting, "ponder_weight", None)
    asked = {"halting": run.config.halting_name, "ponder_weight": weight}
    return result_row(run, record) | asked


def difficulty_rows(run: SequenceRun, weights: dict[str, Any], drawn: int, seed: int) -> list[Row]:
    """Error and steps by difficulty, on sequences that are the same for all runs of a task."""
    config, task = run.config, build_task(run.config.task)
    sequences = task.sample(drawn, generator("drawn sequences", seed))
    model = network(task, config, weights)
    found = evaluate(model, task.outputs, sequences, config.training.batch_size)
    return [run.seeded | vars(row) for row in by_difficulty(found, task)]


def look(
    runs: Iterable[tuple[SequenceRun, dict[str, Any]]], study: Graves, reading: Reading | None
) -> dict[str, list[Row]]:
    """What trained networks do, by the file that tells it: on instances, or on bytes.

    Args:
        runs: with their weights.
    """
    found: dict[str, list[Row]] = {"difficulty": [], "reading": [], "bytes": []}
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
