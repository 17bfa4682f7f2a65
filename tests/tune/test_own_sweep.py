"""A sweep of a training of the user, from Python."""

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from mlflow import MlflowClient

from actmodels.errors import ConfigError, SweepError
from tests.end_to_end.project import wait_for
from tests.tune.own_curve import Curve
from tune import Range, SuccessiveHalving, Sweep
from tune.own_training import OwnTraining
from tune.trials.provenance import code_folder

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "own_sweep.py"


def sweep(folder: Path, **changes: Any) -> Sweep:
    arguments = {"name": "curves", "training": Curve, "settings": {"rate": [3.0, 1.0, 2.0]}}
    arguments |= {"metric": "loss", "mode": "min", "max_epochs": 4, "folder": folder}
    return Sweep(**(arguments | changes))


def test_all_problems_are_listed(tmp_path: Path) -> None:
    wrong = {"seed": [1], "rate": [], "width": [[1]], "depth": Range(3, 1)}
    with pytest.raises(ConfigError) as raised:
        sweep(tmp_path, settings=wrong, mode="lowest", seeds=[1, 1]).planned()
    assert [problem.partition(";")[0] for problem in raised.value.problems] == [
        "setting seed is the name of a column",
        "setting rate is []",
        "setting width is [[1]]",
        "setting depth: needs min below max",
        "a Range has no grid",
        "seeds is [1, 1]",
        "mode is 'lowest'",
    ]
    with pytest.raises(ConfigError, match="at the top of a module or of a script"):
        sweep(tmp_path, training=lambda config, device: None).planned()


def test_keys_cover_settings_seed_and_data_but_not_their_order(tmp_path: Path) -> None:
    both = {"rate": [1.0, 2.0], "size": 3}
    first = sweep(tmp_path, settings=both, seeds=[1, 2]).planned()
    turned = sweep(tmp_path, settings=dict(reversed(both.items())), seeds=[1, 2]).planned()
    assert [trial.key for trial in first] == [trial.key for trial in turned]
    other = sweep(tmp_path, settings=both, seeds=[1, 2], data="2").planned()
    assert len({trial.key for trial in first + other}) == 8
    assert len({trial.configuration_name for trial in first + other}) == 2


def test_a_training_resumes_and_diverges_as_any_other(tmp_path: Path) -> None:
    whole, resumed, lost = (
        OwnTraining(trial.config, None, "cpu")  # type: ignore[arg-type]
        for trial in sweep(tmp_path, settings={"rate": [2.0, 2.5, 0.0]}, patience=2).planned()
    )
    while not whole.finished:
        whole.run_epoch()
    assert [epoch.metrics["epochs"] for epoch in whole.history] == [1, 2, 3, 4]
    assert whole.best_parameters == {"epoch": 4}
    resumed.config = whole.config
    resumed.training.config = whole.training.config
    resumed.run_epoch()
    again = OwnTraining(whole.config, None, "cpu")
    again.load_state_dict(resumed.state_dict())
    assert again.training.epoch == again.next_epoch - 1 == 1
    lost.run_epoch()
    assert lost.diverged and lost.finished and lost.history[0].metrics == {"epochs": 1}


def test_the_best_state_is_not_overwritten_by_later_epochs(tmp_path: Path) -> None:
    (trial,) = sweep(tmp_path, settings={"rate": 1.0}, mode="max").planned()
    training = OwnTraining(trial.config, None, "cpu")  # type: ignore[arg-type]
    weight = torch.zeros(2)
    training.training.state_dict = lambda: {"weight": weight}
    training.run_epoch()
    weight += 1  # in place, as an optimizer does
    training.run_epoch()  # its loss is lower, and mode is max
    assert training.best_parameters["weight"].tolist() == [0.0, 0.0]


def test_a_missing_metric_is_named(tmp_path: Path) -> None:
    (trial,) = sweep(tmp_path, settings={"rate": 1.0}, metric="error").planned()
    training = OwnTraining(trial.config, None, "cpu")  # type: ignore[arg-type]
    with pytest.raises(SweepError, match=r"returned no error, .* but loss, epochs$"):
        training.run_epoch()


def test_the_commit_is_that_of_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert code_folder(sweep(tmp_path).planned()[0].config) == ROOT
    (tmp_path / "outside_curve.py").write_text("class Own: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module("outside_curve").Own
    assert code_folder(sweep(tmp_path, training=own).planned()[0].config) == tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("one_ray")
def test_a_loss_is_minimized_by_each_search_and_with_early_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    listed = sweep(tmp_path, settings={"rate": [3.0, 0.0, 1.0]}, seeds=[1, 2])
    records = listed.run()
    frame = listed.frame()
    assert list(frame["rate"]) == [3.0, 3.0, 0.0, 0.0, 1.0, 1.0]
    assert list(frame["loss"].round(4)[:2]) == [0.76, 0.77] and frame["diverged"].sum() == 2
    best = max(records, key=lambda record: record.score)
    assert (best.config["settings"], best.config["seed"]) == ([["rate", 1.0]], 1)
    assert listed.state(best) == {"epoch": 4}
    client = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
    (experiment,) = [e for e in client.search_experiments() if e.name == "curves"]
    runs = client.search_runs([experiment.experiment_id], "tags.kind = 'trial'")
    assert len(runs) == 6
    assert min(run.data.metrics.get("best_loss", 9) for run in runs) == pytest.approx(0.26)
    searched = {"settings": {"rate": Range(0.5, 4.0)}, "trials": 5}
    for search in ("random", "optuna"):
        each = sweep(tmp_path, **searched, search=search)
        assert len(each.run()) == len(each.frame()) == 5
    other = sweep(tmp_path / "other", name="others", settings={"rate": [1.0]})
    other.run()
    client = MlflowClient(f"sqlite:///{tmp_path / 'other' / 'mlflow.db'}")
    assert "others" in [experiment.name for experiment in client.search_experiments()]
    stopped = sweep(
        tmp_path, settings={"rate": [1.0, 2.0, 3.0]}, early_stopping=SuccessiveHalving(1, 2)
    )
    stopped.run()
    epochs = stopped.frame().set_index("rate")["epochs"]
    assert epochs[1.0] == 4 and epochs.min() < 4


def run_example(folder: Path) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")}
    environment |= {"PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, str(EXAMPLE)],
        **{"cwd": folder, "env": environment, "stdout": pipe, "text": True},
        start_new_session=True,
    )


def table(output: str) -> pd.DataFrame:
    lines = [line for line in output.splitlines() if "trials to run" not in line]
    return pd.DataFrame([line.split() for line in lines])


@pytest.mark.slow
def test_the_example_is_killed_and_goes_on(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir(), killed.mkdir()
    expected = run_example(whole).communicate(timeout=240)[0]
    assert "sweep: 8 of 8 trials to run" in expected
    assert len(table(expected)) == 9
    driver = run_example(killed)
    wait_for(lambda: [*killed.glob("digits/trials/*.json")], "the first trials")
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate(timeout=60)
    again = run_example(killed).communicate(timeout=240)[0]
    assert "sweep: 8 of 8" not in again and table(again).equals(table(expected))
    last = run_example(killed).communicate(timeout=120)[0]
    assert "sweep: 0 of 8 trials to run" in last and table(last).equals(table(expected))
