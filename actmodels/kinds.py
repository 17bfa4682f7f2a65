"""The kinds of trials; classes by name, so that a trial's code is that of its kind. No torch."""

from dataclasses import dataclass

from actmodels.config import AnyTrialConfig, TrialConfig
from actmodels.multihop.config import MultihopTrialConfig
from actmodels.reader.config import ReaderTrialConfig
from actmodels.sequences.config import SequenceTrialConfig


@dataclass(frozen=True)
class Kind:
    """What trains a configuration; each as module:name.

    data: what it is trained on, of (config, folder, text); a node's workers share its tensors, so
    that nobody may write to them. training: its ModelTraining, of (config, data, device). pack:
    several trained together, of (configs, data, device); None where that is impossible.
    """

    data: str
    training: str
    pack: str | None = None


KINDS: dict[type[AnyTrialConfig], Kind] = {
    TrialConfig: Kind(
        "actmodels.data.trial_data:trial_data",
        "actmodels.training:Training",
        "actmodels.packed.training:PackTraining",
    ),
    MultihopTrialConfig: Kind(
        "actmodels.multihop.training:multihop_data", "actmodels.multihop.training:MultihopTraining"
    ),
    SequenceTrialConfig: Kind(
        "actmodels.sequences.training:trial_text", "actmodels.sequences.training:SequenceTraining"
    ),
    ReaderTrialConfig: Kind(
        "actmodels.reader.data:reader_data", "actmodels.reader.training:ReaderTraining"
    ),
}


def kind_of(config: AnyTrialConfig) -> Kind:
    """The kind that a trial is of."""
    return KINDS[type(config)]
