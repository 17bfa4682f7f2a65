"""Write and read small result files: CSV and JSON, the same bytes for the same content."""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from actmodels.errors import ArtifactError
from actmodels.files import read_known, write_text
from actmodels.tables import COLUMNS
from pipeline.runtime.stage import artifacts, require_artifact

TableRow = dict[str, Any]


def write_table(path: Path, rows: Sequence[TableRow], columns: str = "") -> None:
    """Write rows as CSV; the cell of a missing value, None or nan is empty.

    Args:
        columns: names between blanks; by default those declared in actmodels.tables, else all
            columns of the rows.
    """
    declared = columns or COLUMNS.get(f"{path.parent.name}/{path.name}", "")
    names = declared.split() or list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(names)
    for row in rows:
        values = (row.get(name) for name in names)
        table.writerow(None if value != value else value for value in values)  # nan
    write_text(path, text.getvalue())


def write_results(stage: str, summary: TableRow, **tables: Sequence[TableRow]) -> None:
    """Write summary.json, and the tables of a stage by the names of their files."""
    for name, rows in tables.items():
        write_table(artifacts(stage, f"{name}.csv"), rows)
    write_json(artifacts(stage, "summary.json"), summary)


def diverged_seeds(result: TableRow) -> str:
    """Return the seeds that diverged, of a model's entry in the summary of `evaluate`, or ""."""
    seeds = result.get("diverged", {}).items()
    return "".join(f"; {seed.replace('_', ' ')} diverged in epoch {at}" for seed, at in seeds)


def write_json(path: Path, content: dict[str, Any], indent: int = 2) -> None:
    """Write a summary or a manifest; keys keep their order."""
    write_text(path, json.dumps(content, indent=indent) + "\n")


@contextmanager
def intact(stage: str, name: str) -> Iterator[None]:
    """Raise ArtifactError if the block fails, as an output of a stage has unexpected content."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, csv.Error) as error:
        path = artifacts(stage, name)
        raise ArtifactError(f"{path} is corrupt; run: dvc repro -f -s {stage}") from error


def read_json(stage: str, name: str) -> Any:
    """Read an output of an earlier stage; raise ArtifactError if it is missing or corrupt."""
    with intact(stage, name):
        return json.loads(read_known(require_artifact(stage, name)))


def data_classes() -> list[str]:
    """Return the classes of the pairs, in the order of the outputs of a model."""
    with intact("tensors", "manifest.json"):
        return list(read_json("tensors", "manifest.json")["classes"])


def data_digest() -> str:
    """Return the digest of the data that stage `tensors` wrote."""
    with intact("tensors", "manifest.json"):
        return str(read_json("tensors", "manifest.json")["digest"])
