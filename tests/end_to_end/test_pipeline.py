"""The whole pipeline on real engines: no-op reruns, the run cache, DVC's plots."""

import csv
import io
import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ruamel.yaml import YAML

from tests.end_to_end.project import TINY, Project

pytestmark = pytest.mark.slow


def from_dvc(project: Project, *command: str) -> Any:
    status, output = project.run("dvc", *command, "--json")
    assert status == 0, output
    return json.loads(output)


@pytest.fixture(scope="module")
def project(whole: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the whole project, for commands that write no artifact."""
    return whole.copy(tmp_path_factory.mktemp("whole") / "project")


@pytest.mark.smoke
def test_a_rerun_does_nothing_and_mlflow_and_dvc_have_the_same_metrics(project: Project) -> None:
    start = time.monotonic()
    assert "Data and pipelines are up to date" in project.repro()
    assert time.monotonic() - start < 30
    made = project.artifacts()
    assert len(json.loads(made["studies/cloze/queries.json"])) == TINY["cloze.traced"]
    assert len(made["studies/halting/depth.csv"].splitlines()) == 1 + 2 * 3  # points, depths
    test = [json.loads(line) for line in made["corpus/test.jsonl"].splitlines()]
    labels = {pair["pairID"]: pair["gold_label"] for pair in test}
    predictions = pd.read_csv(io.BytesIO(made["evaluate/predictions.csv"]))
    assert (predictions["label"] == predictions["pair_id"].map(labels)).all()  # the test split's
    kinds = ("sweep", "retrain", *TINY["studies"])
    parents = [run for kind in kinds for run in project.runs(kind)]
    assert [run.info.status for run in parents] == ["FINISHED"] * len(kinds)
    (report,), (evaluated,) = project.runs("report"), project.runs("evaluate")
    ((path, shown),) = from_dvc(project, "metrics", "show")[""]["data"].items()
    assert path == "artifacts/report/metrics.json"
    assert shown["data"] == report.data.metrics | {"model": shown["data"]["model"]}
    flat = pd.json_normalize(json.loads(made["evaluate/summary.json"])).iloc[0].dropna()
    assert evaluated.data.metrics == flat.to_dict()  # as MLflow names nested metrics
    logged = {file.path for file in project.client().list_artifacts(report.info.run_id)}
    assert {"index.html", "report.md", "metrics.json", "figures"} <= logged


@pytest.mark.smoke
def test_results_that_exist_are_restored_from_the_run_cache(project: Project) -> None:
    """Deleted ones, and those of earlier settings; also files that differ between runs."""
    folder = project.folder / "artifacts"

    def contents() -> dict[Path, bytes]:
        paths = [path for path in folder.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in paths if path.name != ".gitignore"}

    before = contents()
    shutil.rmtree(folder)
    restored = re.findall(r"Stage '(.+)' is cached - skipping run", project.repro())
    stages = YAML(typ="safe").load(project.folder / "dvc.lock")["stages"]
    assert sorted(restored) == sorted(stages)
    assert before == contents()
    project.configure({"report.examples": 1})
    assert "Running stage 'report'" in project.repro()
    project.configure({"report.examples": 10000})
    assert "Stage 'report' is cached" in project.repro()
    assert before == contents()


@pytest.mark.smoke
def test_dvc_plots_the_files_of_the_report(project: Project) -> None:
    """Every row of them, and nothing else."""
    shown = from_dvc(project, "plots", "show")
    assert not shown.get("errors")
    tables_alone = [plots[0] for name, plots in shown["data"].items() if "/" not in name]
    specs = [plot["content"] for plot in tables_alone]
    for spec in specs:
        assert "<DVC_METRIC" not in json.dumps(spec)
        (source,) = {row["filename"] for row in spec["data"]["values"]}
        stored = list(csv.DictReader(io.StringIO((project.folder / source).read_text("utf-8"))))
        assert [{key: row[key] for key in stored[0]} for row in spec["data"]["values"]] == stored
