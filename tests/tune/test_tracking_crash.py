"""Real crashes, and simulated ones at every write."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from tests.tune.tracking_samples import (
    INPUTS,
    PARAMS,
    WRITES,
    Killed,
    children,
    end,
    inputs,
    parents,
    record,
    started,
    statuses,
    steps,
    train,
    trial,
)


def whole_sweep(state: Path) -> None:
    """One trial is reused, one is trained, one fails."""
    tracker = started(state)
    for key in "bc":
        train(tracker, key, last=2)
    end(tracker, "b", epochs=2)
    results = [(trial(key), record(key, epochs=2)) for key in "ab"]
    tracker.finish("FINISHED", {"trials": 3}, [*results, (trial("c"), "out of memory")])


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", pytest.param("after", marks=pytest.mark.smoke)])
def test_a_crash_at_any_write_is_repaired_by_the_next_sweep(
    empty_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    countdown = [0]

    def cut(name: str) -> Callable[..., Any]:
        original = getattr(MlflowClient, name)

        def call(self: MlflowClient, *args: Any, **kwargs: Any) -> Any:
            countdown[0] -= 1
            if countdown[0] == 0 and moment == "before":
                raise Killed
            result = original(self, *args, **kwargs)
            if countdown[0] == 0:
                raise Killed
            return result

        return call

    for name in WRITES:
        monkeypatch.setattr(MlflowClient, name, cut(name))
    crashes = 0
    while True:
        folder = tmp_path / str(crashes)
        folder.mkdir()
        shutil.copy(empty_database, folder / "mlflow.db")
        countdown[0] = crashes + 1
        try:
            whole_sweep(folder)
            break
        except Killed:
            crashes += 1
        countdown[0] = 0
        whole_sweep(folder)
        assert [run.info.status for run in parents(folder)] == ["FINISHED"], crashes
        assert statuses(folder) == {"a": "FINISHED", "b": "FINISHED", "c": "FAILED"}, crashes
        for run in children(folder).values():
            assert steps(folder, run) == [1, 2], crashes
            assert len(run.data.params) == len(PARAMS), crashes
            assert inputs(run) == INPUTS, crashes
    assert crashes >= 21
