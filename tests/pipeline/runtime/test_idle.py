"""Stages without work: empty results, before any import that takes seconds."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from actmodels.errors import ArtifactError
from actmodels.tables import COLUMNS, UNREPORTED
from pipeline.runtime import idle
from tests.pipeline.project import ROOT, read_output, write_params, written

HEAVY = {"torch", "pandas", "numpy", "scipy", "mlflow", "ray"}
STAGES = ("fidelity", "sizes", "halting", "sequences", "cloze", "cloze_data")


@pytest.mark.parametrize("stage", STAGES)
def test_tables_have_no_rows(folder: Path, stage: str) -> None:
    write_params(folder)
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_module(f"pipeline.{stage}", run_name="__main__")
    name = "manifest.json" if stage == "cloze_data" else "summary.json"
    empty = {"source": "none", "kinds": {}} if stage == "cloze_data" else {}
    assert read_output(folder, stage, name) == empty
    files = {
        f"{stage}/{name}": content.decode() for name, content in written(folder, stage).items()
    }
    del files[f"{stage}/{name}"]
    assert "" not in files.values()  # DVC warns of an empty file
    files.pop("cloze/queries.json", None)
    tables = COLUMNS | UNREPORTED
    expected = [table for table in tables if table.startswith(f"{stage}/")]
    assert files == {table: ",".join(tables[table]) + "\n" for table in expected}


def test_a_configured_stage_continues(folder: Path) -> None:
    write_params(folder, sizes={"models": ["decomposable_attention"]})
    idle.end_if_idle("sizes.models")
    with pytest.raises(ArtifactError, match=r"^sizes: params\.yaml changed as it began"):
        idle.write_empty("sizes.models", {})
    (folder / "params.yaml").write_text("a mistake")
    idle.end_if_idle("cloze.question_types")  # the stage itself reports it
    assert not (folder / "artifacts").exists()


@pytest.mark.parametrize("stage", ["fidelity", "cloze"])
def test_nothing_heavy_is_imported(folder: Path, stage: str) -> None:
    write_params(folder)
    script = f"""
import runpy, sys
sys.path.insert(0, {str(ROOT)!r})
try:
    runpy.run_module("pipeline.{stage}", run_name="__main__")
except SystemExit as ended:
    assert ended.code == 0
assert not {HEAVY} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert read_output(folder, stage) == {}
