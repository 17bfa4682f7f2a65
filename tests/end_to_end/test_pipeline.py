"""The whole pipeline on the real engines, twice: it ends, repeats itself though killed, rests."""

import json
import random
import secrets
import time
from pathlib import Path
from typing import Any

import pytest

from tests.chaos import Campaign, artefacts
from tests.end_to_end.project import Project

pytestmark = pytest.mark.slow

SECONDS = 80.0  # that all stages after the sweep take, or somewhat more


def shown_by_dvc(project: Project, stage: str) -> dict[str, Any]:
    """What `dvc metrics show` says of a stage."""
    path = f"artefacts/{stage}/{'metrics' if stage == 'report' else 'summary'}.json"
    status, output = project.run("dvc", "metrics", "show", "--json", path)
    assert status == 0, output
    shown: dict[str, Any] = json.loads(output)[""]["data"][path]["data"]
    return shown


def flat(nested: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """As MLflow names nested figures; what there is not is left out."""
    found: dict[str, float] = {}
    for name, value in nested.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        elif value is not None:
            found[prefix + name] = value
    return found


@pytest.mark.slow(minutes=6)
def test_a_run_killed_at_random_equals_another_and_a_third_does_nothing(
    undisturbed: Project, whole: Project, tmp_path: Path
) -> None:
    project, seed = undisturbed.copy(tmp_path / "killed"), secrets.randbelow(10**6)
    campaign = Campaign(project, random.Random(seed))
    campaign.run(kills=3, seconds=SECONDS)
    campaign.compare(whole)
    assert not campaign.problems, (seed, campaign.told, *campaign.problems)
    first = artefacts(whole)
    assert len(first["nse/queries.jsonl"].splitlines()) == 3
    assert len(first["halting/depth.csv"].splitlines()) == 1 + 2 * 3  # points, depths

    start = time.monotonic()
    assert "Data and pipelines are up to date" in project.repro()
    assert time.monotonic() - start < 30
    kinds = ("sweep", "retrain", "fidelity", "sizes", "halting", "graves", "multihop", "nse")
    parents = [run for kind in kinds for run in project.runs(kind)]
    assert [run.info.status for run in parents] == ["FINISHED"] * len(kinds)
    (report,), (evaluated,) = project.runs("report"), project.runs("evaluate")
    figures = shown_by_dvc(project, "report")
    assert figures == json.loads(first["report/metrics.json"])
    assert report.data.metrics == figures
    assert evaluated.data.metrics == flat(shown_by_dvc(project, "evaluate"))
    logged = {file.path for file in project.client().list_artifacts(report.info.run_id)}
    assert {"index.html", "report.md", "metrics.json", "figures"} <= logged


def test_bad_parameters_end_in_a_sentence_and_write_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.configure({"sweep.max_epochs": 0, "corpus.captions.train": -1})
    status, output = project.run("dvc", "repro")
    assert status != 0
    assert "error: params.yaml: sweep.max_epochs is 0; must be" in output
    assert "error: params.yaml: corpus.captions.train is -1; must be" in output
    assert "Traceback" not in output
    assert not artefacts(project)
