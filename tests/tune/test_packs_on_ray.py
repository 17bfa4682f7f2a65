"""Packs on a real Ray: the results of single trials, whatever happens to a worker."""

from pathlib import Path
from typing import Any

import pytest

from actmodels.config import TrialConfig
from actmodels.records import TrialRecord
from tests.samples import sample_data, sample_trial, save_sample_data
from tests.tune.tracking_samples import children, steps
from tune.execution import Execution
from tune.grid import with_keys
from tune.sweep import run_trials

pytestmark = pytest.mark.slow

ADAPTIVE, DECOMPOSABLE = "adaptive_attention", "decomposable_attention"
GRID = [
    *(
        sample_trial(ADAPTIVE, max_epochs=4, ponder_weight=weight, seed=seed)
        for weight in (0.01, 0.001)
        for seed in (1, 2)
    ),
    *(sample_trial(DECOMPOSABLE, max_epochs=4, dropout=dropout) for dropout in (0.0, 0.1, 0.2)),
    sample_trial("decomposable_attention_as_published", max_epochs=4),
]


def swept(
    configs: list[TrialConfig], state: Path, trials_per_pack: Any, data: Any = None, **more: Any
) -> list[TrialRecord]:
    save_sample_data(state, data or sample_data())
    execution = Execution(state, state, state / "ray", 1, 0, 2, False, trials_per_pack)
    trials = with_keys(configs, data_digest="data", device="cpu", threads=1)
    records = run_trials("sweep", trials, execution, **more)
    assert [record.key for record in records] == [trial.key for trial in trials]
    assert not list(execution.checkpoints.iterdir())
    return records


def figures(record: TrialRecord) -> list[dict[str, float]]:
    epochs = [epoch.result() for epoch in record.history]
    return [{name: v for name, v in epoch.items() if v is not None} for epoch in epochs]


def assert_equal(packed: list[TrialRecord], single: list[TrialRecord]) -> None:
    for one, other in zip(packed, single, strict=True):
        assert (one.key, one.parameters, one.diverged) == (other.key, other.parameters, False)
        for ours, theirs in zip(figures(one), figures(other), strict=True):
            assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-5)


def test_packs_give_the_table_of_single_trials(state: Path, tmp_path: Path) -> None:
    single = swept(GRID, state, 1)
    other = tmp_path / "other"
    other.mkdir()
    packed = swept(GRID, other, 4, keep_weights=True)
    assert_equal(packed, single)
    assert len(list((other / "trials").glob("*.pt"))) == len(GRID)
    runs = children(other)
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert all(steps(other, run) == [1, 2, 3, 4] for run in runs.values())
