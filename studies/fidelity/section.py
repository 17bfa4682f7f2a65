"""Section `fidelity` of params.yaml: changes to the selected configuration of each model."""

from collections.abc import Iterator
from typing import Annotated, Any

from actmodels.registry import MODELS, published_model
from actmodels.trial_config import setting_types
from pipeline.parameters.rules import not_swept, unknown_keys
from pipeline.parameters.schema import Params
from pipeline.parameters.section import LIMITS, NON_EMPTY, PAIRS, Keys, Limits, Seeds, each
from pipeline.parameters.studies import StudySection

Changes = dict[str, Any]
Variants = dict[str, Annotated[Changes, Keys(PAIRS | LIMITS)]]


class Study(Limits, StudySection):
    seeds: Seeds
    models: Annotated[dict[str, dict[str, Changes]], each(MODELS, Variants), NON_EMPTY]

    def problems(self, params: Params) -> Iterator[str]:
        for model in self.models:
            yield from not_swept(f"fidelity.models.{model}", model, params)
        for model, variants in self.models.items():
            for variant, changes in variants.items():
                known = setting_types(published_model(model, changes)) | LIMITS
                yield from unknown_keys(f"fidelity.models.{model}.{variant}", changes, known)
