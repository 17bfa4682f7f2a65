"""Small trials on multi-hop pairs."""

from dataclasses import asdict
from typing import Any

from actmodels.data.trial_data import TrialData
from actmodels.seeding import generator
from studies.multihop.config import CorpusConfig, MultihopTrialConfig
from studies.multihop.corpus import draw_split, word_vectors
from tests.samples import SETTINGS

CORPUS = CorpusConfig(things=18, chains=3, distractors=0)
STREAM = {
    **asdict(CORPUS),
    "max_hops": 2,
    "join_accuracy": 0.0,
    "steps_per_hop": 2,
    "updates_per_epoch": 3,
    "ponder_delay": 1,
}


def multihop_trial(model: str = "hop_attention", **settings: Any) -> MultihopTrialConfig:
    """A trial of a second: two depths; the second joins after one epoch."""
    known = MultihopTrialConfig.setting_types(model)
    model_settings = {name: value for name, value in (SETTINGS | STREAM).items() if name in known}
    limits = {"max_epochs": 4, "patience": 0, "seed": 1}
    return MultihopTrialConfig.build(model, model_settings | settings, **limits)


def sample_multihop_data() -> TrialData:
    """Dev pairs of two depths, drawn as in the stage."""
    dev = draw_split(CORPUS, 12, (1, 2), 2, generator("sample dev"))
    return TrialData(dev, dev, word_vectors(CORPUS, 8))
