"""Reports, evaluations and provenance."""

import subprocess
from pathlib import Path

import pytest

from tests.tune.tracking_samples import runs, steps
from tune.tracking.results import log_evaluation, log_report
from tune.trials.provenance import provenance_tags


def test_a_report_is_logged_with_all_files_once(state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    (folder / "figures").mkdir(parents=True)
    (folder / "report.md").write_text("# Report\n")
    (folder / "figures" / "steps.png").write_bytes(b"\x89PNG")
    log_report(folder, {"test_accuracy": 0.5}, state)
    log_report(folder, {"test_accuracy": 0.6}, state)
    (run,) = runs(state)
    assert (run.info.status, run.data.tags["kind"]) == ("FINISHED", "report")
    assert run.data.metrics == {"test_accuracy": 0.6}
    assert set(provenance_tags()) <= set(run.data.tags)
    artifacts = state / "mlartifacts" / run.info.run_id / "artifacts"
    assert (artifacts / "figures" / "steps.png").read_bytes() == b"\x89PNG"
    (folder / "report.md").write_text("# Another\n")
    log_report(folder, {}, state)
    assert len(runs(state)) == 2


def test_an_evaluation_is_flattened_and_logged_once(state: Path) -> None:
    metrics = {"decomposable_attention": {"test_accuracy_mean": 0.5, "test_mean_steps": None}}
    for _ in range(2):
        log_evaluation("evaluate", "abc", {"data_digest": "d1"}, metrics, state)
    (run,) = runs(state)
    assert run.data.metrics == {"decomposable_attention.test_accuracy_mean": 0.5}
    assert steps(state, run, "decomposable_attention.test_accuracy_mean") == [0]
    assert run.data.tags["data_digest"] == "d1"


def test_the_commit_is_dirty_for_changed_code_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another project is in the same repository."""
    project = tmp_path / "project"
    for name in ("tune/code.py", "dvc.lock", "artifacts/report/report.md", "../other/code.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("1\n")
    assert provenance_tags(project)["git_commit"] == "unknown"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@t"]
    for words in ("init -q", "add .", "commit -q -m first"):
        subprocess.run([*git, *words.split()], check=True)
    (project / "dvc.lock").write_text("2\n")
    (project / "artifacts/report/report.md").unlink()
    (tmp_path / "other/code.py").write_text("2\n")
    first = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    subprocess.run(["git", "init", "-q", project / "untracked"], check=True)
    for name, value in {"DIR": ".git", "WORK_TREE": "", "INDEX_FILE": ".git/index"}.items():
        # as in a hook of another repository
        monkeypatch.setenv(f"GIT_{name}", str(project / "untracked" / value))
    assert provenance_tags(project)["git_commit"] == first
    (project / "tune/code.py").write_text("2\n")
    tags = provenance_tags(project)
    assert tags["git_commit"].endswith("-dirty")
    assert set(tags) == {"git_commit", "python_version", "torch_version", "ray_version"}


def test_a_repository_of_another_user_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # as for git's own tests
    assert provenance_tags(tmp_path)["git_commit"] == "unknown"
    refused = "the commit is unknown: git refuses a folder of another user; run: git config "
    assert caplog.messages == [f"{refused}--global --add safe.directory {tmp_path}"]
