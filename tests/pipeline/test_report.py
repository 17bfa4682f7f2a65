import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline import report
from reports import render
from tests.pipeline.project import ROOT, write_params

STORED = ROOT / "tests" / "fixtures" / "artifacts"
Logged = list[tuple[Any, ...]]
SUMMARIES: dict[str, dict[str, Any]] = {
    "lexical_baseline": {"lexical_baseline": {"test_accuracy": 0.7}},
    "evaluate": {"adaptive_attention": {"test_accuracy_mean": 0.8}},
    "ablate": {},
}


@pytest.fixture
def project(folder: Path) -> Path:
    """Write a project folder with the artifacts of earlier stages."""
    shutil.copytree(STORED, folder / "artifacts")
    for stage, summary in SUMMARIES.items():
        (folder / "artifacts" / stage / "summary.json").write_text(json.dumps(summary))
    write_params(folder)
    return folder


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Logged:
    """Record the arguments for MLflow; tests/end_to_end/test_pipeline.py has the real one."""
    calls: Logged = []
    monkeypatch.setattr(report, "log_report", lambda *given: calls.append(given))
    monkeypatch.setattr(report, "log_evaluation", lambda *given: calls.append(given))
    return calls


def test_the_report_is_logged(
    project: Path,
    logged: Logged,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An experiment ends with the lines that end `make repro`."""
    monkeypatch.setattr(render, "write_pictures", lambda charts, folder: None)
    monkeypatch.setenv("DVC_EXP_BASELINE_REV", "0")
    report.main()
    folder = project / "artifacts" / "report"
    assert (folder / "report.md").is_file()
    assert f"Report:  {(folder / 'index.html').as_uri()}\n" in capsys.readouterr().out
    lexical, evaluated, (where, metrics, state) = logged  # `ablate` was off
    for stage, (name, group, tags, of_stage, _) in zip(
        SUMMARIES, (lexical, evaluated), strict=False
    ):
        assert (name, of_stage, len(group)) == (stage, SUMMARIES[stage], 16)
        assert tags["data_digest"] == "4567cdef"
    assert (where, state) == (folder, project / "state")
    assert metrics["test_accuracy"] == 0.82
