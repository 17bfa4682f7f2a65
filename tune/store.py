"""Finished trials, each under its own key, where DVC does not delete them. No Ray."""

import hashlib
import io
import sys
from dataclasses import replace
from typing import Any

import torch

from actmodels.errors import UserError
from actmodels.files import DamagedError
from actmodels.provenance import trial_key
from actmodels.records import TrialRecord
from tune.storage import Storage


class TrialStore:
    """Records of finished trials and, where asked for, their best weights.

    A record carries its own digest and that of its weights. What does not match is set aside, and
    the trial has not finished.
    """

    def __init__(self, place: Storage) -> None:
        self.place = place

    def holds(self, key: str) -> bool:
        """There is a record of `key`; whether it can be believed is not looked at."""
        return self.place.holds(f"{key}.json")

    def weights(self, key: str) -> bytes:
        """The best weights of `key`, as torch stores them; OSError if they were not kept."""
        return self.place.read(f"{key}.pt")

    def save(self, record: TrialRecord, weights: dict[str, Any] | None) -> None:
        """Store a finished trial; the weights first, so that a record never lacks them."""
        self.place.make()
        if weights is not None:
            buffer = io.BytesIO()
            torch.save(weights, buffer)
            self.place.write(f"{record.key}.pt", buffer.getbuffer())
            record = replace(record, weights=hashlib.sha256(buffer.getbuffer()).hexdigest())
        self.place.write_checked(f"{record.key}.json", record.to_json().encode())

    def load(self, key: str, *, needs_weights: bool) -> TrialRecord | None:
        """The record of `key`, or None if that trial has not finished (with weights, if needed)."""
        name = f"{key}.json"
        try:
            record = TrialRecord.from_json(self.place.read_checked(name).decode())
            found = trial_key(record.config, record.provenance)
            if found != key or record.key != key:
                where = self.place.where(name)
                raise DamagedError(f"{where} holds the result of another configuration ({found})")
            if needs_weights:
                name = f"{key}.pt"
                if hashlib.sha256(self.weights(key)).hexdigest() != record.weights:
                    where = self.place.where(name)
                    raise DamagedError(f"{where} is damaged: its record has another digest")
        except FileNotFoundError:
            return None
        except (UserError, ValueError, KeyError, TypeError) as error:
            aside = self.place.quarantine(name)
            told = f"{error}; set aside as {aside}, the trial is run again"
            print(told, file=sys.stderr, flush=True)
            return None
        return record
