import json
import shutil
from pathlib import Path

import pytest

from pipeline import report
from reports import render
from tests.pipeline.project import ROOT, write_params
from tests.tune.conftest import empty_database, state
from tests.tune.tracking_samples import parents

__all__ = ["empty_database", "state"]  # fixtures


def test_the_report_and_the_evaluations_are_logged(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An experiment ends with the lines that end `make repro`."""
    monkeypatch.chdir(folder := state.parent)
    monkeypatch.setattr(render, "write_pictures", lambda charts, folder: None)
    monkeypatch.setenv("DVC_EXP_BASELINE_REV", "0")
    shutil.copytree(ROOT / "tests" / "fixtures" / "artifacts", folder / "artifacts")
    for stage, summary in (
        ("lexical_baseline", {"lexical_baseline": {"test_accuracy": 0.7}}),
        ("evaluate", {"adaptive_attention": {"test_accuracy_mean": 0.8}}),
        ("ablate", {}),  # it was off
    ):
        (folder / "artifacts" / stage / "summary.json").write_text(json.dumps(summary))
    write_params(folder)
    report.main()
    made = folder / "artifacts" / "report"
    assert (made / "report.md").is_file()
    assert f"Report:  {(made / 'index.html').as_uri()}\n" in capsys.readouterr().out
    logged = {run.info.run_name.rpartition("-")[0]: run.data for run in parents(state)}
    assert logged.keys() == {"lexical_baseline", "evaluate", "report"}
    assert logged["report"].metrics["test_accuracy"] == 0.82
    for name in ("lexical_baseline", "evaluate"):
        assert logged[name].tags["data_digest"] == "4567cdef"
