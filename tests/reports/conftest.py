import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.parameters.studies import study_part
from reports.blocks import Chart, Report, Section, Table
from reports.load import Artifacts, load
from reports.render import report, write_report

STORED = Path(__file__).parents[1] / "fixtures" / "artifacts"
NAMES = ("multihop", "fidelity", "halting", "sequences", "cloze")
STUDIES = {name: study_part(name, "report").STUDY for name in NAMES}
Row = dict[str, str]
Sections = dict[str, Section]


def load_all(folder: Path) -> Artifacts:
    """Load artifacts with the files of all studies."""
    return load(folder, {name: study.columns for name, study in STUDIES.items()})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED, tmp_path / "artifacts"))


@pytest.fixture(scope="session")
def stored() -> Artifacts:
    return load_all(STORED)


@pytest.fixture(scope="session")
def built(stored: Artifacts) -> Report:
    return report(stored, STUDIES, 100)


@pytest.fixture(scope="session")
def sections(built: Report) -> Sections:
    return {section.title: section for section in built.sections}


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A written report of the fixture artifacts, over an earlier one; read-only."""
    folder = tmp_path_factory.mktemp("report")
    for name in ("figures", "tables"):
        (folder / name).mkdir()
    for name in ("figures/old.png", "tables/old.csv"):
        (folder / name).touch()
    metrics = write_report(STORED, folder, STUDIES, examples=100)
    stored = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert stored == {"model": "adaptive_attention"} | metrics
    return folder


def edit(folder: Path, place: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    path = folder / f"{place}.csv"
    change(pd.read_csv(path, dtype=str, keep_default_na=False)).to_csv(path, index=False)


def table(section: Section, name: str) -> Table:
    return next(part for part in section.parts if isinstance(part, Table) and part.name == name)


def rows(part: Table) -> list[dict[str, str]]:
    return [dict(zip(part.columns, row, strict=True)) for row in part.rows]


def points(chart: Chart) -> list[dict[str, Any]]:
    return max(chart.spec["datasets"].values(), key=len)


def summary(frame: pd.DataFrame) -> str:
    """Return the size, and of each column its range and sum, or its distinct texts."""
    text = f"{len(frame)} rows"
    for name in frame:
        values = pd.to_numeric(frame[name], errors="coerce")
        if values.notna().any():
            shown = f"{values.min():.5g} to {values.max():.5g}, sum {values.sum():.5g}"
            shown += f", {values.isna().sum()} empty" * bool(values.isna().any())
        else:
            texts = [str(value)[:30] for value in frame[name].map(str).unique()]
            shown = f"{', '.join(texts[:5])}, {len(texts)} texts"
        text += f"; {name}: {shown}"
    return text


def numbers_of(built: Report) -> str:
    """Return the data of all tables and charts in short: Markdown has no charts."""
    lines = [f"tables/{part.name}.csv: {summary(part.frame)}" for part in built.parts(Table)]
    for chart in built.charts:
        frames = [pd.DataFrame(data) for data in chart.spec["datasets"].values()]
        lines += [f"{chart.name}: {summary(frame)}" for frame in frames]
    return "\n".join(lines) + "\n"
