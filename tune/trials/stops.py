"""Requests to end trials, or a sweep with its best: files in the storage of trials in progress.

Workers read them after each epoch, so a request reaches every node. Does not import Ray.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from actmodels.records import TrialRecord
from tune.trials.storage import Storage

USER, TIME_LIMIT = "the user", "the time limit"  # what ends a trial or a sweep
ENDED, RULE = "ended_by", "early_stopping"  # entries of a record's provenance


@dataclass(frozen=True)
class Stops:
    """The requests for a sweep: those for its trials, by key, and one for all of them.

    storage: of trials in progress. sweep: digest of the trials, see grid_hash.
    """

    storage: Storage
    sweep: str

    def request(self, name: str, reason: str) -> None:
        """Request the end of a trial, by its key, or of the sweep, by its digest."""
        self.storage.make()
        self.storage.write(_file(name), reason.encode())

    def withdraw(self, name: str) -> None:
        """Delete a request."""
        self.storage.remove(_file(name))

    def requested(self, key: str) -> bool:
        """Return whether the end of a trial alone is requested."""
        return self.storage.exists(_file(key))

    def reason(self, key: str = "") -> str:
        """Return what ends the sweep, or a trial; empty if nothing does."""
        for name in filter(None, (key, self.sweep)):
            with suppress(FileNotFoundError):
                return self.storage.read(_file(name)).decode()
        return ""


def with_end(record: TrialRecord, reason: str) -> TrialRecord:
    """Return the record of a trial that something ended before the limits of its configuration.

    Its provenance has the reason. A field of the record would change the code of all trials, and so
    their keys. A record is stopped if its provenance has an entry of early stopping.
    """
    return replace(record, provenance={RULE: "", **record.provenance, ENDED: reason})


def ended_by(record: TrialRecord) -> str:
    """Return what ended a trial; empty for early stopping and the limits of its configuration."""
    return record.provenance.get(ENDED, "")


def origin(record: TrialRecord) -> dict[str, str]:
    """Return the part of the provenance that determines the key; see with_end."""
    entries = record.provenance.items()
    return {name: of for name, of in entries if name != ENDED and (name, of) != (RULE, "")}


def end_text(record: TrialRecord) -> str:
    """Return why a trial ended before its last epoch; see TrialRecord.end."""
    by = ended_by(record)
    return record.end.replace("stopped early", f"stopped by {by}") if by else record.end


def ended_text(by: str, records: Sequence[TrialRecord], total: int, models: Iterable[str]) -> str:
    """Return a sentence on the results of a sweep that was ended with its best."""
    have = {record.config["model"] for record in records}
    lost = ", ".join(model for model in models if model not in have)
    stopped = sum(bool(ended_by(record)) for record in records)
    results = f"{len(records)} of {total} trials have results, {stopped} of them stopped early"
    left_out = f"; the next stages leave out {lost}, without a result" if lost else ""
    return f"{by} ended the sweep: {results}{left_out}"


def _file(name: str) -> str:
    return f"stop/{name}"
