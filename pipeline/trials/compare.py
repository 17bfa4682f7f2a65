"""Compare two sweeps by the records of their trials."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from actmodels.errors import ArtifactError, ConfigError, first_line
from actmodels.records import TrialRecord
from actmodels.trial_config import trial_from_dict
from pipeline.trials.selection import TIE_RULES, Selected, select_best
from reports.format import DASH, setting
from reports.statistics import accuracy_interval

RECORDS = "artifacts/sweep/records.jsonl"
Values: TypeAlias = dict[tuple[str, str], list[str]]  # by model and name
Rows: TypeAlias = list[list[str]]  # a row of columns, then those of cells


class Comparison(NamedTuple):
    """Two sweeps: their trials in words, the settings that differ, the best of each model."""

    notes: list[str]
    settings: Rows
    best: Rows


def compare(first: str, second: str, caller: Path) -> str:
    """Return what differs between two sweeps, their trials in common, and the best of each model.

    Args:
        first, second: folders, git revisions or DVC experiments.
        caller: the folder to which folders are relative.

    Raises:
        ArtifactError: a name has no sweep, or one that this code cannot read.
        ConfigError: both names are equal.
    """
    if first == second:
        raise ConfigError("compare", [f"{first!r} is named twice; name two sweeps"])
    notes, settings, best = comparison({name: load_sweep(name, caller) for name in (first, second)})
    differ = _text(settings) if settings[1:] else "no setting differs"
    return "\n".join([*notes, "", differ, "", _text(best)])


def comparison(sweeps: Mapping[str, Sequence[TrialRecord]]) -> Comparison:
    """Compare two sweeps, by name."""
    notes = [f"{name}: {len(records)} trials" for name, records in sweeps.items()]
    keys = [{record.key for record in records} for records in sweeps.values()]
    notes.append(f"in common: {len(keys[0] & keys[1])} trials")
    origins = [_values(records, lambda of: of.provenance) for records in sweeps.values()]
    if causes := sorted({name for _, name in _differing(*origins)}):
        notes.append(f"trained with different {', '.join(causes)}")
    changed = _differing(*(_values(records, _settings) for records in sweeps.values()))
    settings = [[*place, *both] for place, both in changed.items()]
    best = [
        [model, name, *_row(selected, [of for owner, of in changed if owner == model])]
        for name, records in sweeps.items()
        for model, selected in select_best(records, [*TIE_RULES]).items()
    ]
    best.sort(key=lambda row: row[0])
    columns = ["best of model", "sweep", "dev, %", "95 % CI", "seeds", "settings that differ"]
    return Comparison(notes, [["model", "setting", *sweeps], *settings], [columns, *best])


def load_sweep(name: str, caller: Path) -> list[TrialRecord]:
    """Load the trials of a sweep; see `compare`."""
    parts = RECORDS.split("/")
    places = [caller.joinpath(name, *parts[start:]) for start in range(len(parts))]
    path = next((place for place in places if place.is_file()), None)
    text = path.read_text("utf-8") if path else _of_revision(name)
    try:
        records = [TrialRecord.from_json(line) for line in text.splitlines()]
        for record in records:
            trial_from_dict(record.config)
        return records
    except (ValueError, LookupError, TypeError, AttributeError, ConfigError) as error:
        problem = f"{name}: {path or RECORDS} is corrupt, or another version of the code wrote it"
        raise ArtifactError(f"{problem} ({first_line(error)}); run the sweep again") from error


def _of_revision(name: str) -> str:
    """Return the records of a git revision or DVC experiment, from DVC's cache or remote."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "records.jsonl")
        command = [sys.executable, "-m", "dvc", "get", f"--out={out}", f"--rev={name}"]
        done = subprocess.run([*command, ".", RECORDS], capture_output=True, text=True)
        if done.returncode:
            raise ArtifactError(
                f"{name!r} is neither a folder with a sweep nor a revision or experiment whose "
                f"sweep DVC has ({first_line(done.stderr)}); list them: dvc exp show"
            )
        return out.read_text("utf-8")


def _settings(record: TrialRecord) -> dict[str, Any]:
    flat = trial_from_dict(record.config).flat()
    return {name: value for name, value in flat.items() if name != "model"}


def _values(
    records: Iterable[TrialRecord], of: Callable[[TrialRecord], Mapping[str, Any]]
) -> Values:
    """Return the different values of each name, in the order of the trials."""
    values: dict[tuple[str, str], dict[str, None]] = {}
    for record in records:
        for name, value in of(record).items():
            values.setdefault((record.config["model"], name), {})[setting(value)] = None
    return {place: [*own] for place, own in values.items()}


def _differing(first: Values, second: Values) -> dict[tuple[str, str], list[str]]:
    """Return the values of both sweeps where they differ, of models that both have."""
    models = {model for model, _ in first} & {model for model, _ in second}
    return {
        place: [", ".join(own.get(place, [DASH])) for own in (first, second)]
        for place in {**first, **second}
        if place[0] in models and sorted(first.get(place, [])) != sorted(second.get(place, []))
    }


def _row(selected: Selected, names: Sequence[str]) -> list[str]:
    """Return accuracy, interval over seeds, their number, and these settings."""
    mean, sd, seeds = selected.dev_accuracy, selected.dev_accuracy_sd, len(selected.records)
    interval = DASH
    if sd is not None:
        low, high = accuracy_interval(mean, sd, seeds)
        interval = f"[{low:.1f}, {high:.1f}]"
    values = selected.config.flat()
    own = [f"{of} {setting(values[of])}" for of in names if of in values and of != "seed"]
    return [f"{100 * mean:.1f}", interval, str(seeds), ", ".join(own) or DASH]


def _text(rows: Rows) -> str:
    """Return a table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
