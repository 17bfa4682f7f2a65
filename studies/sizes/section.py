"""Section `sizes` of params.yaml: models and subsets of the training pairs."""

from collections.abc import Iterator
from typing import Annotated

from actmodels.validators import Range
from pipeline.parameters.rules import not_swept
from pipeline.parameters.schema import Params
from pipeline.parameters.section import NON_EMPTY, UNIQUE
from pipeline.parameters.studies import StudySection


class Study(StudySection):
    models: Annotated[list[str], NON_EMPTY, UNIQUE]
    halvings: Annotated[int, Range(ge=1, le=20)]  # to one in a million

    def problems(self, params: Params) -> Iterator[str]:
        for index, model in enumerate(self.models):
            yield from not_swept(f"sizes.models[{index}]", model, params)
