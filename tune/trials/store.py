"""Finished trials, by key, outside of DVC's outputs, and checkpoints. Does not import Ray."""

import hashlib
import io
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from actmodels.errors import UserError
from actmodels.files import CorruptError
from actmodels.records import TrialRecord
from tune.trials.provenance import trial_key
from tune.trials.stops import ended_by, origin
from tune.trials.storage import Storage

STOPPED = "stopped/"  # folder of the records of trials that the user stopped


def checkpoint_name(key: str) -> str:
    """Return the file of an unfinished trial; the key stands for its whole configuration."""
    return f"{key}.pt"


def load_checkpoint(checkpoints: Storage, key: str) -> dict[str, Any]:
    """Load the state of an unfinished trial (Training.state_dict) onto the CPU."""
    import torch  # takes more than a second, and most reruns load and save nothing

    file = io.BytesIO(checkpoints.read_named(checkpoint_name(key)))
    state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    return state


def save_checkpoint(checkpoints: Storage, key: str, state: Mapping[str, Any]) -> None:
    """Save the state of an unfinished trial."""
    import torch

    buffer = io.BytesIO()
    torch.save(state, buffer)
    checkpoints.write_named(checkpoint_name(key), buffer.getbuffer())


def record_name(key: str, stopped: bool = False) -> str:
    """Return the file of a record; the user may take back the end of a stopped trial."""
    return f"{STOPPED if stopped else ''}{key}.json"


class TrialStore:
    """Records of finished trials and, if requested, their best weights.

    That of a trial that the user stopped counts until the trial is resumed, but has no weights.
    A record has a checksum of its own and one of its weights. If either does not match, the file
    is quarantined and the trial counts as unfinished.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def holds(self, key: str) -> bool:
        """Return whether a record exists, without verifying it."""
        return any(self.storage.exists(record_name(key, stopped)) for stopped in (False, True))

    def resume(self, key: str) -> None:
        """Delete the record of a trial that the user stopped."""
        self.storage.remove(record_name(key, stopped=True))

    def weights(self, key: str) -> bytes:
        """Return the best weights in torch's format; raise OSError if they were not kept."""
        return self.storage.read(f"{key}.pt")

    def save(self, record: TrialRecord, weights: dict[str, Any] | None) -> None:
        """Save a finished trial; its weights first, so that no record lacks them."""
        self.storage.make()
        if weights is not None:
            import torch

            buffer = io.BytesIO()
            torch.save(weights, buffer)
            self.storage.write(f"{record.key}.pt", buffer.getbuffer())
            record = replace(record, weights=hashlib.sha256(buffer.getbuffer()).hexdigest())
        name = record_name(record.key, bool(ended_by(record)))
        self.storage.write_checked(name, record.to_json().encode())

    def load(self, key: str, *, needs_weights: bool) -> TrialRecord | None:
        """Load a record; None if the trial, or its weights if needed, is missing or corrupt."""
        record = self._load(key, record_name(key), needs_weights)
        if record is None and not needs_weights:
            record = self._load(key, record_name(key, stopped=True), needs_weights)
        return record

    def _load(self, key: str, name: str, needs_weights: bool) -> TrialRecord | None:
        try:
            record = TrialRecord.from_json(self.storage.read_checked(name).decode())
            stored = trial_key(record.config, origin(record))
            if stored != key or record.key != key:
                raise self._corrupt(name, f"holds the result of another configuration ({stored})")
            if needs_weights:
                name = f"{key}.pt"
                if hashlib.sha256(self.weights(key)).hexdigest() != record.weights:
                    raise self._corrupt(name, "is corrupt: its record has another checksum")
        except FileNotFoundError:
            return None
        except (UserError, ValueError, KeyError, TypeError) as error:
            note = (
                f"{error}; quarantined as {self.storage.quarantine(name)}, the trial is run again"
            )
            print(note, file=sys.stderr, flush=True)
            return None
        return record

    def _corrupt(self, name: str, problem: str) -> CorruptError:
        return CorruptError(f"{self.storage.full_name(name)} {problem}")
