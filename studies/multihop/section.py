"""Section `multihop` of params.yaml: the pairs, the models and their settings."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Annotated

from actmodels.registry import MODELS
from actmodels.validators import (
    BatchSize,
    Between,
    NonNegativeFloat,
    NonNegativeInt,
    Size,
    Steps,
    UnitInterval,
    settings_of,
)
from pipeline.parameters.schema import Params
from pipeline.parameters.section import (
    NON_EMPTY,
    PAIRS,
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
from studies.multihop.config import (
    CorpusConfig,
    Distractors,
    Hops,
    MultihopTrialConfig,
    StreamConfig,
    Things,
)

SETTINGS = PAIRS | settings_of(StreamConfig)


class Corpus(ParamsSection):
    seed: NonNegativeInt
    dev: BatchSize
    test: BatchSize
    dimensions: Size
    things: Things
    chains: Things
    distractors: Distractors

    @property
    def premises(self) -> CorpusConfig:
        return CorpusConfig(self.things, self.chains, self.distractors)


class Exits(ParamsSection):
    """Rules by which a pair leaves a trained network, each with its thresholds."""

    confidence: Annotated[list[UnitInterval], UNIQUE]  # minimum probability of the class
    patience: Annotated[list[Annotated[int, Between(ge=2, le=1000)]], UNIQUE]  # equal classes
    change: Annotated[list[NonNegativeFloat], UNIQUE]  # maximum of |s_n - s_(n-1)| / |s_n|
    # minimum of the step's own halting probability, which ACT adds up (Graves 2016, footnote 1)
    unit: Annotated[list[UnitInterval], UNIQUE]


class Testing(ParamsSection):
    hops: Annotated[list[Hops], NON_EMPTY, UNIQUE]
    max_steps: Steps
    exits: Exits
    longest: bool = False  # networks in steps take all depths in the longest premises as well


class Study(Limits, StudySection):
    seeds: Seeds
    corpus: Corpus
    evaluation: Testing
    models: Annotated[dict[str, Axes], each(MODELS, Annotated[Axes, axes(SETTINGS)]), NON_EMPTY]
    settings: Annotated[Settings, Keys(SETTINGS, required=["max_hops"])]

    def problems(self, params: Params) -> Iterator[str]:
        """Require that pairs are not too deep."""
        for model, compared in self.models.items():
            if "max_hops" in compared:  # dev and test have its depths
                key = f"multihop.models.{model}.max_hops"
                yield f"{key} belongs in multihop.settings: it has one value"
        deepest, most = max(self.evaluation.hops), self.corpus.premises.max_hops
        if deepest > most:
            limit = f"at most {most}, which is things / chains of multihop.corpus"
            yield f"multihop.evaluation.hops has {deepest}; must be {limit}"

    def trials(self) -> Iterator[tuple[str, Trials[MultihopTrialConfig]]]:
        """Yield the trials of each model."""
        for model in self.models:
            yield f"multihop.models.{model}", multihop_trials(model, self)


def multihop_trials(model: str, study: Study) -> Trials[MultihopTrialConfig]:
    """Yield the trials of a model on multi-hop pairs."""
    values = study.settings | asdict(study.corpus.premises)
    settings = known_settings(values, MultihopTrialConfig.setting_types(model))
    build = partial(MultihopTrialConfig.build, model)
    return expand(build, settings, study.models[model], study.seeds, study)
