"""The kinds of trials: on sentence pairs, on sequences, on cloze questions. Imports no torch."""

from typing import Any, TypeAlias

from actmodels.comprehension.config import ReadingConfig, reading_from_dict
from actmodels.config import TrialConfig, trial_from_dict
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.sequences.config import trial_from_dict as sequence_trial_from_dict

AnyTrialConfig: TypeAlias = TrialConfig | SequenceTrialConfig | ReadingConfig


def any_trial_from_dict(stored: dict[str, Any]) -> AnyTrialConfig:
    """The inverse of `as_dict` of any kind of trial, told by what it alone has."""
    if "task" in stored:
        return sequence_trial_from_dict(stored)
    return reading_from_dict(stored) if "reader" in stored else trial_from_dict(stored)
