"""Trial types, with classes by name, so that a trial loads only its code. No torch."""

from dataclasses import dataclass

from actmodels.cloze.config import ReaderTrialConfig
from actmodels.multihop.config import MultihopTrialConfig
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.trial_config import BaseTrialConfig, TrialConfig


@dataclass(frozen=True)
class TrialType:
    """Data and training of a configuration class, each as module:name."""

    data: str  # (config, folder, text) -> data; read-only, as a node's workers share its tensors
    training: str  # (config, data, device) -> ModelTraining
    fusion: str | None = None  # (configs, data, device) -> FusedTraining; None: unsupported


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
    """Return the type of a trial."""
    return TRIAL_TYPES[type(config)]
