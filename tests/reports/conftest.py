import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.artefacts import Artefacts, load

STORED = Path(__file__).parents[1] / "fixtures" / "artefacts"
Row = dict[str, str]
Edit = Callable[[str, Callable[[Row], Row | None]], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the stored artefacts that a test may damage."""
    return Path(shutil.copytree(STORED, tmp_path / "artefacts"))


@pytest.fixture(scope="session")
def artefacts() -> Artefacts:
    return load(STORED)


@pytest.fixture
def edit(folder: Path) -> Edit:
    """Change or drop (None) the rows of one stored table."""

    def edit(file: str, change: Callable[[Row], Row | None]) -> None:
        with (folder / file).open(encoding="utf-8", newline="") as opened:
            reader = csv.DictReader(opened)
            rows = [row for row in map(change, reader) if row is not None]
        with (folder / file).open("w", encoding="utf-8", newline="") as opened:
            writer = csv.DictWriter(opened, reader.fieldnames or [], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    return edit


@pytest.fixture
def one_seed(folder: Path, edit: Edit) -> Path:
    """The artefacts of a run that was retrained with one seed."""
    for file in (
        *("retrain/trials.csv", "retrain/history.csv", "retrain/timings.csv"),
        *("evaluate/results.csv", "evaluate/depth.csv", "ablate/dev.csv", "ablate/test.csv"),
    ):
        edit(file, lambda row: row if row["seed"] == "1" else None)
    summary = folder / "evaluate" / "summary.json"
    stored = summary.read_text(encoding="utf-8")
    summary.write_text(stored.replace("0.81", "0.8").replace("0.82", "0.83"), encoding="utf-8")
    return folder
