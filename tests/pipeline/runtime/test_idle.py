"""Stages of which nothing is asked: empty results, before any import that takes seconds."""

import subprocess
import sys
from pathlib import Path

import pytest

from actmodels.errors import ArtifactError
from actmodels.tables import COLUMNS, UNREPORTED
from pipeline.parameters.load import load_params
from pipeline.runtime import idle
from tests.pipeline.project import ROOT, told, write_params, written

HEAVY = {"torch", "pandas", "numpy", "scipy", "mlflow", "ray"}


@pytest.mark.parametrize("stage", idle.ASKED)
def test_tables_have_no_rows(folder: Path, stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "load_params", lambda: load_params(ROOT / "conf" / "base.yaml"))
    with pytest.raises(SystemExit, match=r"^0$"):
        idle.end_if_idle(stage)
    name = "manifest.json" if stage == "cloze_data" else "summary.json"
    empty = {"source": "none", "kinds": {}} if stage == "cloze_data" else {}
    assert told(folder, stage, name) == empty
    made = {f"{stage}/{name}": content.decode() for name, content in written(folder, stage).items()}
    del made[f"{stage}/{name}"]
    assert made.pop("cloze/queries.jsonl", "") == ""
    tables = COLUMNS | UNREPORTED
    places = [place for place in tables if place.startswith(f"{stage}/")]
    assert made == {place: ",".join(tables[place]) + "\n" for place in places}


def test_a_stage_of_which_something_is_asked_goes_on(folder: Path) -> None:
    write_params(folder, sizes={"models": ["decomposable_attention"]})
    idle.end_if_idle("sizes")
    with pytest.raises(ArtifactError, match=r"^sizes: params\.yaml changed as it began"):
        idle.write_nothing("sizes")
    (folder / "params.yaml").write_text("a mistake")
    idle.end_if_idle("cloze")  # which is for the stage itself to report
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
    assert told(folder, stage) == {}
