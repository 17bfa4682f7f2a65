"""Finished trials, each under its own key, in a folder that outlives any crash. No Ray.

The folder is no output of a stage: DVC deletes outputs before it runs one.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from actmodels.data.stored import save_stored
from actmodels.errors import UserError
from actmodels.files import DamagedError, file_digest, read_sealed, set_aside, write_sealed
from actmodels.provenance import trial_key
from actmodels.records import TrialRecord


class TrialStore:
    """Records of finished trials and, where asked for, their best weights.

    A record carries its own digest and that of its weights. What does not match is set aside, and
    the trial has not finished.

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
            path = self.weights_path(record.key)
            save_stored(weights, path)
            record = replace(record, weights=file_digest(path))
        write_sealed(self.record_path(record.key), record.to_json().encode())

    def load(self, key: str, *, needs_weights: bool) -> TrialRecord | None:
        """The record of `key`, or None if that trial has not finished (with weights, if needed)."""
        path, weights = self.record_path(key), self.weights_path(key)
        if not path.is_file() or (needs_weights and not weights.is_file()):
            return None
        try:
            record = self._read(path, key)
        except (UserError, ValueError, KeyError, TypeError) as error:
            _distrust(path, str(error))
            return None
        if needs_weights and file_digest(weights) != record.weights:
            _distrust(weights, f"{weights} is damaged: its record has another digest")
            return None
        return record

    def _read(self, path: Path, key: str) -> TrialRecord:
        record = TrialRecord.from_json(read_sealed(path).decode())
        found = trial_key(record.config, record.provenance)
        if found != key or record.key != key:
            raise DamagedError(f"{path} holds the result of another configuration ({found})")
        return record


def _distrust(path: Path, why: str) -> None:
    aside = set_aside(path)
    print(f"{why}; set aside as {aside.name}, the trial is run again", file=sys.stderr, flush=True)
