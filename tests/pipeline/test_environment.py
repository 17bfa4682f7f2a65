"""What a stage that trains says of its run, beside its results."""

import json
from pathlib import Path

from actmodels.records import EpochRecord, TrialRecord
from pipeline.environment import Stopwatch
from tests.samples import sample_trial
from tune.execution import Execution
from tune.grid import with_keys
from tune.store import TrialStore

EPOCH = EpochRecord(1, 0.5, 0.5, None, None, None, 0.9, 0.6, None, None, None)


def test_it_tells_trained_trials_from_reused_ones(tmp_path: Path) -> None:
    execution = Execution(tmp_path, tmp_path, tmp_path, 1, 0, max_failures=0, dashboard=False)
    configs = [sample_trial("decomposable_attention", dropout=d) for d in (0.0, 0.1, 0.2)]
    trials = with_keys(configs, data_digest="abc", device="cpu", threads=1, precision="highest")
    done = TrialRecord(
        trials[1].key, trials[1].config.as_dict(), 9, (EPOCH,), dict(trials[1].origin)
    )
    TrialStore(execution.state / "trials").save(done, None)
    stopwatch = Stopwatch(trials, execution)
    stopwatch.write(tmp_path / "sweep")
    told = json.loads((tmp_path / "sweep" / "environment.json").read_text(encoding="utf-8"))
    assert (told["trials"], told["reused"], told["data_digest"]) == (3, 1, "abc")
    assert 0 <= told["wall_seconds"] < 60
    assert told["machine"]["cores"] >= 1
    assert set(told["provenance"]) >= {"git_commit", "python_version", "torch_version"}
