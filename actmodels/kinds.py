"""The kinds of trials there are: on sentence pairs, and on sequences. Imports no torch."""

from typing import Any, TypeAlias

from actmodels.config import TrialConfig, trial_from_dict
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.sequences.config import trial_from_dict as sequence_trial_from_dict

AnyTrialConfig: TypeAlias = TrialConfig | SequenceTrialConfig


def any_trial_from_dict(stored: dict[str, Any]) -> AnyTrialConfig:
    """The inverse of `as_dict` of any kind of trial: what has a task is one on sequences."""
    return sequence_trial_from_dict(stored) if "task" in stored else trial_from_dict(stored)
