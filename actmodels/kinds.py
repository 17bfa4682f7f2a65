"""The kinds of trials: what each is trained on, and by what. Imports no torch.

A kind's classes are found by name, so that params.yaml is checked without torch and a trial's
code (actmodels.provenance) is that of its own kind.
"""

from dataclasses import dataclass

from actmodels.config import AnyTrialConfig, TrialConfig
from actmodels.multihop.config import MultihopTrialConfig
from actmodels.reader.config import ReaderTrialConfig
from actmodels.sequences.config import SequenceTrialConfig


@dataclass(frozen=True)
class Kind:
    """What is made of a configuration; each as module:name.

    data: what it is trained on, of (config, folder, text): the folder has the pairs, or a folder
        for each kind of questions; the text is the file that characters are drawn from. Workers
        get what it returns, whose tensors nobody may write to: all that a node runs share them.
    training: its ModelTraining, of (config, data, device).
    pack: several that train at once, of (configs, data, device); None if they never do.
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
