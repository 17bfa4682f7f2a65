"""What a stage that trains says of its run, beside its results."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from actmodels.records import EpochRecord, TrialRecord
from pipeline.trained.environment import Stopwatch
from tests.samples import sample_trial
from tune.execution import Execution
from tune.grid import Trial, with_keys
from tune.store import TrialStore

EPOCH = EpochRecord(1, 0.5, 0.5, None, None, None, 0.9, 0.6, None, None, None)
CONFIGS = [sample_trial("decomposable_attention", dropout=d) for d in (0.0, 0.1, 0.2)]
TRIALS = with_keys(CONFIGS, data_digest="abc", device="cpu", threads=1, precision="highest")


@pytest.fixture
def execution(tmp_path: Path) -> Execution:
    return Execution(tmp_path, tmp_path, tmp_path, 1, 0, max_failures=0, dashboard=False)


def finish(trial: Trial, execution: Execution) -> None:
    record = TrialRecord(trial.key, trial.config.as_dict(), 9, (EPOCH,), dict(trial.origin))
    TrialStore(execution.trials).save(record, None)


def told(stopwatch: Stopwatch, folder: Path) -> dict[str, Any]:
    stopwatch.write(folder, [])
    found: dict[str, Any] = json.loads((folder / "environment.json").read_text("utf-8"))
    return found


def test_it_tells_trained_trials_from_reused_ones(execution: Execution, tmp_path: Path) -> None:
    finish(TRIALS[1], execution)
    with Stopwatch("sweep", TRIALS, execution) as stopwatch:
        finish(TRIALS[0], execution)
        finish(TRIALS[2], execution)
    found = told(stopwatch, tmp_path / "sweep")
    assert (found["trials"], found["reused"], found["data_digest"]) == (3, 1, "abc")
    assert found["machine"]["cores"] >= 1
    assert set(found["provenance"]) >= {"git_commit", "python_version", "torch_version"}


def test_runs_on_the_same_trials_add_up(
    execution: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with pytest.raises(KeyboardInterrupt), Stopwatch("sweep", TRIALS, execution):
        finish(TRIALS[0], execution)
        now = 130.0
        raise KeyboardInterrupt
    with Stopwatch("sweep", TRIALS, execution):
        finish(TRIALS[1], execution)
        finish(TRIALS[2], execution)
        now = 150.0
    with Stopwatch("sweep", TRIALS, execution) as stopwatch:
        now = 151.0  # nothing was left to train
    found = told(stopwatch, tmp_path / "sweep")
    assert (found["wall_seconds"], found["reused"]) == (50.0, 0)
    with Stopwatch("sweep", TRIALS[:2], execution) as other:
        now = 152.0
    found = told(other, tmp_path / "other")
    assert (found["wall_seconds"], found["trials"], found["reused"]) == (0.0, 2, 2)


def test_a_damaged_file_is_set_aside(
    execution: Execution, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Stopwatch("sweep", TRIALS, execution) as stopwatch:
        finish(TRIALS[0], execution)
    (path,) = (tmp_path / "stopwatch").iterdir()
    content = path.read_bytes().replace(b'"trained": 1', b'"trained": 3')
    path.write_bytes(content)
    assert told(stopwatch, tmp_path)["reused"] == 3
    assert path.with_name(f"{path.name}.damaged").read_bytes() == content
    assert "; set aside as sweep-" in (said := capsys.readouterr().err)
    assert said.endswith(".json.damaged, what earlier runs took is not counted\n")
