"""Section `multihop` of params.yaml: the pairs, the models and their settings."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

from actmodels.registry import MODELS
from actmodels.validators import BatchSize, NonNegativeInt, Size, settings_of
from pipeline.parameters.rules import build_problems
from pipeline.parameters.schema import Params
from pipeline.parameters.section import (
    NON_EMPTY,
    PAIRS,
    Axes,
    Keys,
    Limits,
    Section,
    Seeds,
    Settings,
    axes,
    each,
)
from pipeline.parameters.studies import StudySection
from pipeline.parameters.trials import Trials, expand, known_settings
from studies.multihop.config import MultihopTrialConfig, StreamConfig
from studies.multihop.words import MAX_HOPS

SETTINGS = PAIRS | settings_of(StreamConfig)


class Corpus(Section):
    seed: NonNegativeInt
    dev: BatchSize
    test: BatchSize
    beyond: NonNegativeInt
    dimensions: Size


class Study(Limits, StudySection):
    seeds: Seeds
    corpus: Corpus
    models: Annotated[dict[str, Axes], each(MODELS, Annotated[Axes, axes(SETTINGS)]), NON_EMPTY]
    settings: Annotated[Settings, Keys(SETTINGS, required=["max_hops"])]

    def problems(self, params: Params) -> Iterator[str]:
        """Require that all trials can be built, and that pairs are not too deep."""
        for model, compared in self.models.items():
            key = f"multihop.models.{model}"
            if "max_hops" in compared:  # dev and test have its depths
                yield f"{key}.max_hops belongs in multihop.settings: it has one value"
            yield from build_problems(key, multihop_trials(model, self))
        hops, beyond = self.settings["max_hops"], self.corpus.beyond
        if hops + beyond > MAX_HOPS:
            limit = f"at most {MAX_HOPS - hops}, as a premise has at most {MAX_HOPS} hops"
            yield f"multihop.corpus.beyond is {beyond}; must be {limit} and max_hops is {hops}"


def multihop_trials(model: str, study: Study) -> Trials[MultihopTrialConfig]:
    """Yield the trials of a model on multi-hop pairs."""
    settings = known_settings(study.settings, MultihopTrialConfig.setting_types(model))
    build = partial(MultihopTrialConfig.build, model)
    return expand(build, settings, study.models[model], study.seeds, study)
