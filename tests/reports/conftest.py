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


def one_seed(folder: Path) -> None:
    """Keep the first seed only, as a run with one seed writes it."""
    per_seed = ["retrain/trials", "retrain/history", "retrain/timings", "ablate/dev", "ablate/test"]
    per_seed += [f"evaluate/{name}" for name in ("results", "depth", "lengths", "correlations")]
    per_seed += ["evaluate/predictions", "evaluate/agreement", "studies/halting/depth"]
    per_seed += [
        f"studies/multihop/{name}"
        for name in ("results", "hops", "exits", "correlations", "states", "costs")
    ]
    names = ("results", "difficulty", "reading", "bytes", "history")
    per_seed += [f"studies/sequences/{name}" for name in names]
    per_seed += [f"studies/cloze/{name}" for name in ("results", "history", "steps", "timings")]
    for place in per_seed:
        edit(folder, place, lambda frame: frame[frame["seed"] == "1"])
    for place in (
        "evaluate/paired",
        "evaluate/difficulty",
        "ablate/gains",
        "studies/fidelity/variants",
        "studies/cloze/runs",
    ):
        edit(folder, place, lambda frame: frame.assign(p="", seeds="1"))
    for place in ("studies/fidelity/variants", "studies/halting/points"):
        edit(folder, place, lambda frame: frame.assign(seeds="1", **_no_sd(frame)))


def _no_sd(frame: pd.DataFrame) -> Row:
    return dict.fromkeys([name for name in frame if name.endswith("_sd")], "")
