"""Section `sequences` of params.yaml: Graves' tasks, and the mechanisms compared on them."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any

from actmodels.validators import BatchSize, NonNegativeInt
from pipeline.parameters.rules import unknown_keys
from pipeline.parameters.schema import Params
from pipeline.parameters.section import (
    NON_EMPTY,
    Axes,
    Keys,
    Limits,
    Seeds,
    Settings,
    TextSource,
    axes,
    each,
)
from pipeline.parameters.studies import StudySection
from pipeline.parameters.trials import Trials, expand, known_settings
from studies.sequences.config import (
    HALTING_MECHANISMS,
    TASKS,
    SequenceTrialConfig,
    build_sequence_trial,
    sequence_setting_types,
)

SETTINGS = {
    name: of
    for task in TASKS
    for mechanism in HALTING_MECHANISMS
    for name, of in sequence_setting_types(task, mechanism).items()
}


class TaskStudy(Limits):
    mechanisms: Annotated[
        dict[str, Axes], each(HALTING_MECHANISMS, Annotated[Axes, axes(SETTINGS)]), NON_EMPTY
    ]
    settings: Annotated[Settings, Keys(SETTINGS)]


class Study(StudySection):
    seeds: Seeds
    drawn: BatchSize
    drawn_seed: NonNegativeInt
    text: TextSource | None
    read_bytes: BatchSize
    tasks: Annotated[dict[str, TaskStudy], each(TASKS, TaskStudy), NON_EMPTY]

    def problems(self, params: Params) -> Iterator[str]:
        """Require known settings, and a text for characters."""
        if self.text is None and "characters" in self.tasks:
            yield "sequences.text is null; task characters needs a text"
        for task, study in self.tasks.items():
            known = dict[str, Any]()
            for name, compared in study.mechanisms.items():
                types = sequence_setting_types(task, name)
                known |= {setting: of for setting, of in types.items() if setting not in compared}
            yield from unknown_keys(f"sequences.tasks.{task}.settings", study.settings, known)

    def trials(self) -> Iterator[tuple[str, Trials[SequenceTrialConfig]]]:
        """Yield the trials of each task with each halting mechanism."""
        for task, study in self.tasks.items():
            for name in study.mechanisms:
                key = f"sequences.tasks.{task}.mechanisms.{name}"
                yield key, sequence_trials(task, name, study, self.seeds)


def sequence_trials(
    task: str, mechanism: str, study: TaskStudy, seeds: Sequence[int]
) -> Trials[SequenceTrialConfig]:
    """Yield the trials of a task with one halting mechanism."""
    settings = known_settings(study.settings, sequence_setting_types(task, mechanism))
    build = partial(build_sequence_trial, task, mechanism)
    return expand(build, settings, study.mechanisms[mechanism], seeds, study)
