"""Loggers that a package registers, and the example for TensorBoard."""

import runpy
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.samples import MODELS, keyed, sample_trial
from tests.tune.test_lost_trials import callback, finished, ray_trial_of, trials
from tune.cluster.callback import DriverCallback
from tune.loggers import Loggers
from tune.trials.grid import Trial
from tune.trials.stops import USER, with_end

__all__ = ["callback", "trials"]  # fixtures
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "tensorboard_logger.py"
PACKAGE = """
class Recorder:
    calls = []
    def __init__(self, sweep): self.calls.append(("sweep", sweep))
    def __getattr__(self, method): return lambda *of: self.calls.append((method, *of))
class Failing:
    def __init__(self, sweep): pass
    def trial_started(self, trial, settings): raise OSError("full")
def broken(sweep): raise ValueError("no account")
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with three loggers; two fail."""
    folder = tmp_path / "installed"
    (info := folder / "others-1.dist-info").mkdir(parents=True)
    (folder / "others.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Name: others\nVersion: 1\n")
    names = {"recorder": "Recorder", "failing": "Failing", "broken": "broken"}
    lines = [f"{name} = others:{of}" for name, of in names.items()]
    (info / "entry_points.txt").write_text("\n".join(["[actmodels.loggers]", *lines]))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "others", raising=False)


def test_loggers_see_trials_and_epochs_and_failing_ones_are_named_once(
    trials: list[Trial], callback: DriverCallback, capsys: pytest.CaptureFixture[str]
) -> None:
    trial, ray_trial = trials[0], ray_trial_of(trials[:1])
    for _ in range(2):  # its worker died once
        callback.on_trial_start(1, [], ray_trial)
    callback.on_trial_result(1, [], ray_trial, finished(trial))
    calls: list[Any] = sys.modules["others"].Recorder.calls
    methods = ["sweep", "trial_started", "epoch_ended", "trial_ended"]
    assert [call[0] for call in calls] == methods
    _, start, epoch, end = calls
    assert calls[0][1] == f"test-{callback.sweep.group[:8]}"
    assert start[1:] == (trial.name, trial.settings) and end[1:] == (trial.name, "finished")
    assert epoch[1:3] == (trial.name, 1) and epoch[3]["dev_accuracy"] == 0.5
    assert "epoch" not in epoch[3] and "train_mean_steps" not in epoch[3]
    assert "replaces" not in epoch[3]
    problem = "logger failing failed, it is not called again: OSError: full\n"
    assert capsys.readouterr().err.count(problem) == 1


def test_the_ends_of_trials(capsys: pytest.CaptureFixture[str]) -> None:
    (trial,) = keyed([sample_trial(MODELS[0])])
    record = finished(trial)["trials"][trial.key]
    loggers = Loggers("sweep")
    problem = "logger broken failed, it is not called again: ValueError: no account\n"
    assert capsys.readouterr().err == problem
    results = (replace(record, diverged=True), with_end(record, USER), "why")
    for result in results:
        loggers.ended(trial, result)
    calls: list[Any] = sys.modules["others"].Recorder.calls
    assert [call[2] for call in calls[1:]] == ["diverged", "stopped", "failed"]


def test_the_example_writes_series_of_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []

    class Writer:
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def __getattr__(self, method: str) -> Any:
            return lambda *of: written.append((self.folder, method, *of))

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    logger = runpy.run_path(str(EXAMPLE))["TensorBoard"]("sweep-1")
    logger.trial_started("a", {"width": 8})
    logger.epoch_ended("a", 1, {"dev_loss": 0.5})
    logger.trial_ended("a", "finished")
    assert written == [
        ("state/tensorboard/sweep-1/a", "add_text", "settings", "{'width': 8}"),
        ("state/tensorboard/sweep-1/a", "add_scalar", "dev_loss", 0.5, 1),
        ("state/tensorboard/sweep-1/a", "close"),
    ]
    assert logger.writers == {}
