"""The kinds of trials; classes by name, so that a trial's code is that of its kind. No torch."""

from dataclasses import dataclass

from actmodels.cloze.config import ReaderTrialConfig
from actmodels.multihop.config import MultihopTrialConfig
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.trial_config import BaseTrialConfig, TrialConfig


@dataclass(frozen=True)
class TrialType:
    """What trains a configuration; each as module:name.

    data: what it is trained on, of (config, folder, text); a node's workers share its tensors, so
    that nobody may write to them. training: its ModelTraining, of (config, data, device). fusion:
    several trained together, of (configs, data, device); None where that is impossible.
    """

    data: str
    training: str
    fusion: str | None = None


TRIAL_TYPES: dict[type[BaseTrialConfig], TrialType] = {
    TrialConfig: TrialType(
        "actmodels.data.trial_data:trial_data",
        "actmodels.training:Training",
        "actmodels.fused.training:FusedTraining",
    ),
    MultihopTrialConfig: TrialType(
        "actmodels.multihop.training:multihop_data", "actmodels.multihop.training:MultihopTraining"
    ),
    SequenceTrialConfig: TrialType(
        "actmodels.sequences.training:trial_text", "actmodels.sequences.training:SequenceTraining"
    ),
    ReaderTrialConfig: TrialType(
        "actmodels.cloze.data:reader_data", "actmodels.cloze.training:ReaderTraining"
    ),
}


def trial_type(config: BaseTrialConfig) -> TrialType:
    """The kind that a trial is of."""
    return TRIAL_TYPES[type(config)]
