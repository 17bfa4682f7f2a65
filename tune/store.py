"""Finished trials, each under its own key, in a folder that outlives any crash. No Ray.

The folder is no output of a stage: DVC deletes outputs before it runs one.
"""

import json
from pathlib import Path
from typing import Any

from actmodels.data.stored import save_stored
from actmodels.errors import ArtefactError
from actmodels.files import write_text
from actmodels.kinds import any_trial_from_dict
from actmodels.provenance import trial_key
from actmodels.records import TrialRecord


class TrialStore:
    """Records of finished trials and, where asked for, their best weights.

    Args:
        folder: where they lie; made if absent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record_path(self, key: str) -> Path:
        """Where the record of `key` lies."""
        return self.folder / f"{key}.json"

    def weights_path(self, key: str) -> Path:
        """Where the best weights of `key` lie, if they were kept."""
        return self.folder / f"{key}.pt"

    def save(self, record: TrialRecord, weights: dict[str, Any] | None) -> None:
        """Store a finished trial; the weights first, so that a record never lacks them."""
        if weights is not None:
            save_stored(weights, self.weights_path(record.key))
        write_text(self.record_path(record.key), record.to_json())

    def load(self, key: str, *, needs_weights: bool) -> TrialRecord | None:
        """The record of `key`, or None if that trial has not finished (with weights, if needed).

        Raises:
            ArtefactError: the record is damaged or is not the result its name says.
        """
        path = self.record_path(key)
        if not path.is_file() or (needs_weights and not self.weights_path(key).is_file()):
            return None
        try:
            record = TrialRecord.from_json(path.read_text(encoding="utf-8"))
            found = trial_key(any_trial_from_dict(record.config), record.provenance)
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ArtefactError(
                f"{path} is not the record of a trial ({error}); delete it to run the trial again"
            ) from error
        if found != key or record.key != key:
            raise ArtefactError(
                f"{path} holds the result of another configuration ({found}); "
                "delete it to run the trial again"
            )
        return record
