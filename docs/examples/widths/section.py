"""Section `widths` of params.yaml: the widths compared."""

from collections.abc import Iterator

from actmodels.validators import Count
from pipeline.parameters.rules import not_swept
from pipeline.parameters.schema import Params
from pipeline.parameters.section import Limits, Seeds
from pipeline.parameters.studies import StudySection


class Study(Limits, StudySection):
    model: str
    seeds: Seeds
    widths: list[Count]

    def problems(self, params: Params) -> Iterator[str]:
        """Require a swept model."""
        yield from not_swept("widths.model", self.model, params)
