"""The trainings that stage `graves` makes of its section of params.yaml."""

from typing import Any

from actmodels.sequences.config import SequenceTrialConfig, build_sequence_trial
from actmodels.settings import ActConfig
from pipeline.parameters.schema import Params
from pipeline.parameters.study_sections import SequenceStudy
from pipeline.studies.study import Run

CHARACTERS = "characters"  # the task that needs a text
SequenceRun = Run[SequenceTrialConfig]


def reads(config: SequenceTrialConfig) -> bool:
    """A trial is on characters, so it needs a text."""
    return config.task_name == CHARACTERS


def planned(task: str, study: SequenceStudy, seeds: list[int]) -> list[SequenceRun]:
    """Without ACT, if asked for, then every ponder weight; each with every seed."""
    act = set(ActConfig.__dataclass_fields__)
    plain = {name: value for name, value in study.settings.items() if name not in act}
    kinds: list[tuple[str, str, dict[str, Any]]] = []
    if study.without_act:
        kinds.append(("without ACT", "none", plain))
    for weight in study.ponder_weights:
        run = f"ponder weight {weight:g}"
        kinds.append((run, "act", study.settings | {"ponder_weight": weight}))
    limits = {"max_epochs": study.max_epochs, "patience": study.patience}
    return [
        Run(
            {"task": task, "run": run},
            build_sequence_trial(task, halting, settings, **limits, seed=seed),
        )
        for run, halting, settings in kinds
        for seed in seeds
    ]


def plan(params: Params) -> list[SequenceRun]:
    """All trainings, in the order of params.yaml."""
    study = params.graves
    return [run for task, tasks in study.tasks.items() for run in planned(task, tasks, study.seeds)]
