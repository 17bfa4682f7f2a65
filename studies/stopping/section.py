"""Section `stopping` of params.yaml: the tasks, the halting mechanisms and the test."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

from actmodels.configs import OpenUnitInterval
from actmodels.registry import HALTINGS
from actmodels.validators import BatchSize, Steps
from pipeline.parameters.section import (
    NON_EMPTY,
    UNIQUE,
    Axes,
    Keys,
    Limits,
    ParamsSection,
    Seeds,
    Settings,
    axes,
    each,
)
from pipeline.parameters.studies import StudySection
from pipeline.parameters.trials import Trials, expand, known_settings
from studies.stopping.config import StoppingTrialConfig, Task

SETTINGS = {
    name: of
    for mechanism in HALTINGS
    for name, of in StoppingTrialConfig.setting_types(mechanism).items()
}


class Testing(ParamsSection):
    strings: BatchSize  # of each length
    bits: Annotated[list[Steps], NON_EMPTY, UNIQUE]
    steps_per_bit: Steps  # steps of a bit at most, as a multiple of the bits of its string
    confidence: OpenUnitInterval  # of the exit that is tried on every network


class Study(Limits, StudySection):
    seeds: Seeds
    tasks: Annotated[list[Task], NON_EMPTY, UNIQUE]
    evaluation: Testing
    mechanisms: Annotated[
        dict[str, Axes], each(HALTINGS, Annotated[Axes, axes(SETTINGS)]), NON_EMPTY
    ]
    settings: Annotated[Settings, Keys(SETTINGS)]

    def trials(self) -> Iterator[tuple[str, Trials[StoppingTrialConfig]]]:
        """Yield the trials of each mechanism, with each task."""
        for mechanism in self.mechanisms:
            for task in self.tasks:
                key = f"stopping.mechanisms.{mechanism}"
                yield key, stopping_trials(task, mechanism, self)


def stopping_trials(task: str, mechanism: str, study: Study) -> Trials[StoppingTrialConfig]:
    """Yield the trials of a task with one halting mechanism."""
    types = StoppingTrialConfig.setting_types(mechanism)
    settings = known_settings(study.settings, types) | {"task": task}
    build = partial(StoppingTrialConfig.build, mechanism)
    return expand(build, settings, study.mechanisms[mechanism], study.seeds, study)
